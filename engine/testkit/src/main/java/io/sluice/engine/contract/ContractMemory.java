package io.sluice.engine.contract;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;

/** The memory on which the contract runs: where its regions come from, and how a test reaches their bytes. */
public interface ContractMemory {
    /**
     * Whether processors see it, so that {@link MemoryRegion#segment()} gives its bytes.
     *
     * @return false for memory of a device
     */
    boolean isHost();

    /**
     * Memory of the engine's own.
     *
     * @param engine whose region it becomes
     * @param bytes how much
     * @param options of the region
     * @return the region, all zeros
     */
    MemoryRegion allocate(TransferEngine engine, long bytes, RegionOptions options);

    /**
     * A region for a test to which it makes no difference whose memory it is.
     *
     * @param engine whose region it becomes
     * @param bytes how much
     * @param options of the region
     * @return the region, all zeros
     */
    default MemoryRegion region(TransferEngine engine, long bytes, RegionOptions options) {
        return allocate(engine, bytes, options);
    }

    /**
     * Memory of the test's own.
     *
     * @param bytes how much
     * @param alignment a power of two, in bytes
     * @return the memory, all zeros
     */
    OwnMemory own(long bytes, long alignment);

    /**
     * The content of a region.
     *
     * @param region a region, or a slice, over memory of this kind
     * @return its bytes, not a copy
     */
    ContractBytes bytes(MemoryRegion region);
}
