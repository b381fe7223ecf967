package io.sluice.engine.contract;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;

/** One group of promises, tested on the transport that the implementing class names. */
interface Contract {
    /**
     * Tag of the tests of the short run on the kernel's RDMA driver, in a guest that is emulated: what only it can show, and
     * some cheap ones of the data path. On methods, as on an interface it would be on the whole class.
     */
    String DRIVER = "driver";

    /** Tag of the tests that start a peer in a process of its own, which variants of a transport leave to the long runs. */
    String PROCESS = "process";

    /** Why a test that needs a peer in a process of its own is skipped. */
    String ONE_PROCESS = "it reaches no other process";

    /**
     * The transport that is tested.
     *
     * @return the same at every call
     */
    TransportUnderTest transport();

    /**
     * The content of a region: the access for every test that is not about {@link MemoryRegion#segment()}.
     *
     * @param region a region or slice
     * @return its bytes, not a copy
     */
    default ContractBytes bytesOf(MemoryRegion region) {
        return transport().memory().bytes(region);
    }

    /**
     * Fills a region with a {@link BytePattern}.
     *
     * @param region a region or slice
     * @param seed of the pattern
     * @return the region
     */
    default MemoryRegion filled(MemoryRegion region, long seed) {
        BytePattern.fill(bytesOf(region), seed);
        return region;
    }

    /**
     * Memory of the engine's own, of the kind that is tested.
     *
     * @param engine whose region it becomes
     * @param bytes how much
     * @param options of the region
     * @return the region, all zeros
     */
    default MemoryRegion allocate(TransferEngine engine, long bytes, RegionOptions options) {
        return transport().memory().allocate(engine, bytes, options);
    }

    /**
     * Memory of the test's own, of the kind that is tested.
     *
     * @param bytes how much
     * @param alignment a power of two, in bytes
     * @return the memory, all zeros
     */
    default OwnMemory ownMemory(long bytes, long alignment) {
        return transport().memory().own(bytes, alignment);
    }

    /** Skips a test of what only host memory has: a segment that code sees, or one that it registers. */
    default void assumeHostMemory() {
        assumeTrue(transport().memory().isHost(), "it is about memory that the processor sees");
    }
}
