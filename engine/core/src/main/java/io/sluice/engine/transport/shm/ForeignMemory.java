package io.sluice.engine.transport.shm;

import io.sluice.engine.transport.RegisteredMemory;

/**
 * The registration of memory that is the user's own, which peers reach by its address.
 *
 * @param address where it begins in this process
 */
record ForeignMemory(long address) implements RegisteredMemory {
    @Override
    public long lockedBytes() {
        return 0;
    }

    @Override
    public void close() {
        // the exposures' leases keep it from peers
    }
}
