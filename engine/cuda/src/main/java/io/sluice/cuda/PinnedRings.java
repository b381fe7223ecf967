package io.sluice.cuda;

import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.StagingRing;

/**
 * Opens the rings through which other transports carry memory of GPUs.
 *
 * @param gpus the transport's GPUs
 * @param thread opens what a ring has of the driver
 * @param releases gives it back
 * @param bytes the size of a ring
 * @param kernels whether kernels may copy pages
 */
record PinnedRings(Gpus gpus, MappingThread thread, ReleaseThread releases, long bytes, boolean kernels) {
    StagingRing open(EventLoop loop, Runnable progress) {
        return new PinnedRing(this, loop, progress);
    }
}
