package io.sluice.engine.contract;

/** One group of promises, tested on whatever transport the implementing class names. */
interface Contract {
    /**
     * The transport that is tested.
     *
     * @return the same at every call
     */
    TransportUnderTest transport();
}
