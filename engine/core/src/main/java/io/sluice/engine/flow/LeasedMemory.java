package io.sluice.engine.flow;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.RegisteredMemory;
import org.jspecify.annotations.Nullable;

/** Local memory that stays valid while a lease is held. Thread-safe. */
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
     * Returns the memory.
     *
     * @return the whole region's memory
     */
    RegionMemory memory();

    /**
     * Returns the memory's registration with a transport, for the holder of a lease.
     *
     * @param transport the transport's position among the engine's transports
     * @return {@code null} if the transport needs none
     */
    @Nullable
    RegisteredMemory registration(int transport);
}
