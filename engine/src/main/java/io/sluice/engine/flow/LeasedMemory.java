package io.sluice.engine.flow;

import java.lang.foreign.MemorySegment;

/** Local memory that stays what it is while somebody holds a lease. Any thread. */
public interface LeasedMemory {
    /**
     * Takes a lease.
     *
     * @return false if the memory is closed, closing or freed
     */
    boolean acquire();

    /** Ends a lease. */
    void release();

    /**
     * The bytes.
     *
     * @return the whole region's segment
     */
    MemorySegment leasedSegment();
}
