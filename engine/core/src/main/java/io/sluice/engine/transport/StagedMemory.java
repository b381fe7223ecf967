package io.sluice.engine.transport;

/**
 * Registered memory of a device that can be copied from and to pinned memory of the host: a transport that only carries
 * memory of the host ({@link Transport#carriesStaged()}) then carries the device's in pieces, through a ring. {@link
 * WorkRequest#registration()} and {@link ExportedRegion#registration()} return it to such a transport. Thread-safe.
 */
public interface StagedMemory extends RegisteredMemory {
    /**
     * Opens a ring on an event loop. It serves all memory that the same transport has registered, one direction of one
     * lane at a time, and takes pinned memory only once it is needed. Called on the loop's thread.
     *
     * @param loop the loop, on which alone the ring is used
     * @param progress run on the loop when copies have ended or the ring {@linkplain StagingRing#isReady has become
     *     ready}; not after the ring is closed
     * @return the ring, which the caller closes
     */
    StagingRing openRing(EventLoop loop, Runnable progress);

    /**
     * Returns the address of the region's first byte.
     *
     * @return an address of the device
     */
    long address();
}
