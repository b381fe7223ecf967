package io.sluice.engine.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory that was mapped by address, as a segment that cannot be touched any more once the mapping has gone. Any thread may use
 * the segment; one thread closes it.
 */
public final class MappedSegment implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MappedSegment.class);
    private static final int CLOSE_ATTEMPTS = 1000;

    private final Arena arena = Arena.ofShared();
    private final long address;
    private final long bytes;
    private final Unmapping unmapping;
    private final MemorySegment segment;

    /** Gives a mapping back to the kernel, in the way that fits how it was made. */
    @FunctionalInterface
    public interface Unmapping {
        /**
         * Unmaps.
         *
         * @param address as the kernel gave it
         * @param bytes how long it is
         * @return 0, or {@code -errno}
         */
        int unmap(long address, long bytes);
    }

    /**
     * Takes a mapping over.
     *
     * @param address as the kernel gave it
     * @param bytes how long it is
     * @param unmapping how to give it back
     */
    @SuppressWarnings("restricted") // the mapping is this object's own
    public MappedSegment(long address, long bytes, Unmapping unmapping) {
        this.address = address;
        this.bytes = bytes;
        this.unmapping = unmapping;
        this.segment = MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
    }

    /**
     * The bytes.
     *
     * @return the segment, dead once {@link #tryClose()} has succeeded
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Unmaps the memory, unless some thread touches it at this moment.
     *
     * @return true if it is unmapped
     */
    public boolean tryClose() {
        try {
            arena.close();
        } catch (IllegalStateException inUse) {
            return !segment.scope().isAlive();
        }
        unmapping.unmap(address, bytes);
        return true;
    }

    /** Unmaps the memory once no thread's system call uses it; if that takes too long, it stays and a log line says so. */
    @Override
    @SuppressWarnings(
            "ThreadPriorityCheck") // the attempts are bounded; yielding only makes the next likelier to succeed
    public void close() {
        for (int attempt = 0; attempt < CLOSE_ATTEMPTS; attempt++) {
            if (tryClose()) {
                return;
            }
            Thread.yield();
        }
        LOG.warn("{} bytes of closed memory are still in use by this process and are not released", bytes);
    }
}
