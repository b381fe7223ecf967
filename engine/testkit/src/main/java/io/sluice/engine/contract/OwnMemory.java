package io.sluice.engine.contract;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;

/** Memory of a test's own, which outlives the regions over it: what a closed region left there can be looked at. */
public interface OwnMemory extends AutoCloseable {
    /**
     * The content, with or without a region over it.
     *
     * @return its bytes, not a copy
     */
    ContractBytes bytes();

    /**
     * Makes a region of all of it.
     *
     * @param engine whose region it becomes
     * @param options of the region
     * @return the region
     */
    MemoryRegion register(TransferEngine engine, RegionOptions options);

    /** Gives it back. Every region over it has been closed. */
    @Override
    void close();
}
