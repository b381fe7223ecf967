package io.sluice.engine.contract;

/** One group of promises, tested on whatever transport the implementing class names. */
interface Contract {
    /**
     * Tag of the tests of the short run on the kernel's RDMA driver, in a guest that is emulated: what only it can show, and
     * some cheap ones of the data path. On methods, as on an interface it would be on the whole class.
     */
    String DRIVER = "driver";

    /** Tag of the tests that start a peer in a process of its own, which variants of a transport leave to the long runs. */
    String PROCESS = "process";

    /** Tag of those of them, with a peer that is killed, frozen or lost, that the guest with two devices runs in the short run. */
    String FAULT = "fault";

    /** Why a test that needs a peer in a process of its own is skipped. */
    String ONE_PROCESS = "it reaches no other process";

    /**
     * The transport that is tested.
     *
     * @return the same at every call
     */
    TransportUnderTest transport();
}
