package io.sluice.engine.transport;

import org.jspecify.annotations.Nullable;

/**
 * Implemented by every region and slice of an engine, for what lets a device work on the memory without transfers. All
 * methods may be called from any thread.
 */
public interface LeasedRegion {
    /**
     * Leases the region: it is closed only after the lease has ended.
     *
     * @param closing run when the region begins to close: the lease should then be ended soon. It must not block, and
     *     may run more than once, also inside this call
     * @return ends the lease; a second run does nothing. {@code null} if the region is closed, or its memory was freed
     */
    @Nullable
    Runnable lease(Runnable closing);
}
