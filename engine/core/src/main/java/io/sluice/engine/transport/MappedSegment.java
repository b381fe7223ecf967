package io.sluice.engine.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory that was mapped by address, as a segment that becomes inaccessible when the mapping ends. Any thread may use
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

    /** Releases a mapping to the kernel. */
    @FunctionalInterface
    public interface Unmapping {
        /**
         * Unmaps.
         *
         * @param address the address of the mapping
         * @param bytes the length of the mapping
         * @return 0, or {@code -errno}
         */
        int unmap(long address, long bytes);
    }

    /**
     * Takes ownership of a mapping.
     *
     * @param address the address of the mapping
     * @param bytes the length of the mapping
     * @param unmapping releases it
     */
    @SuppressWarnings("restricted") // the mapping is this object's own
    public MappedSegment(long address, long bytes, Unmapping unmapping) {
        this.address = address;
        this.bytes = bytes;
        this.unmapping = unmapping;
        this.segment = MemorySegment.ofAddress(address).reinterpret(bytes, arena, null);
    }

    /**
     * Returns the bytes.
     *
     * @return the segment, closed once {@link #tryClose()} has succeeded
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Unmaps the memory, unless a thread is accessing it at this moment.
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

    /**
     * Unmaps the memory once no thread's system call uses it. If that takes too long, the memory stays mapped and a
     * warning is logged.
     */
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
