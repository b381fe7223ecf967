package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.MappedSegment;
import io.sluice.jni.Errno;
import io.sluice.jni.SharedMemory;
import io.sluice.jni.Sockets;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;

/**
 * Shared memory of a connection's two sides, apart from regions. For each direction it has a ring of bytes, the ring's
 * two positions and the doorbell flags. The initiator creates it. The peer may write anything into it at any time.
 */
final class ControlSegment implements AutoCloseable {
    /** The capacity of one ring, in bytes. */
    static final int RING_BYTES = 64 << 10;

    private static final long MAGIC = 0x5357_4c43_5348_4d31L;
    private static final int HEADER_BYTES = 4096;
    private static final int BYTES = HEADER_BYTES + 2 * RING_BYTES;
    private static final int MAGIC_AT = 0;
    private static final int ANSWER_AT = 64;
    private static final int DIRECTIONS_AT = 1024;
    private static final int DIRECTION_BYTES = 1024;
    // each on its own pair of cache lines, because processors prefetch lines in pairs
    private static final int PRODUCED_AT = 0;
    private static final int CONSUMED_AT = 128;
    private static final int CHANGED_AT = 256;
    private static final int PARKED_AT = 384;
    private static final int STARVED_AT = 512;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MappedSegment mapped;
    private final MemorySegment memory;

    private ControlSegment(long address) {
        this.mapped = new MappedSegment(address, BYTES, SharedMemory::unmap);
        this.memory = mapped.segment();
    }

    /** A new segment and its file; the caller closes both. */
    record Made(ControlSegment segment, int descriptor) {}

    /** Creates a sealed segment. */
    static Made make() {
        int file = (int)
                checked(SharedMemory.create("sluice-control".getBytes(StandardCharsets.US_ASCII), BYTES, false, true));
        try {
            long address = checked(SharedMemory.map(file, BYTES, true, true));
            ControlSegment made = new ControlSegment(address);
            try {
                checked(SharedMemory.seal(file, false));
            } catch (TransportUnavailableException e) {
                made.close();
                throw e;
            }
            LONG.setRelease(made.memory, MAGIC_AT, MAGIC);
            return new Made(made, file);
        } catch (TransportUnavailableException e) {
            Sockets.close(file);
            throw e;
        }
    }

    /**
     * Maps the segment that the peer created; the caller keeps the descriptor.
     *
     * @throws ProtocolException if an honest peer would not send it
     */
    static ControlSegment of(int descriptor) {
        int refused = SharedMemory.check(descriptor, BYTES, false);
        if (refused < 0) {
            throw new ProtocolException("the peer's control segment is refused: " + Errno.message(-refused));
        }
        ControlSegment segment = new ControlSegment(checked(SharedMemory.map(descriptor, BYTES, true, false)));
        if ((long) LONG.getAcquire(segment.memory, MAGIC_AT) != MAGIC) {
            segment.close();
            throw new ProtocolException("the peer's control segment has another layout");
        }
        return segment;
    }

    private static long checked(long result) {
        if (result < 0) {
            int error = (int) -result;
            throw new TransportUnavailableException(
                    "no shared memory for the connection: " + Errno.message(error) + SharedFiles.advice(error));
        }
        return result;
    }

    /** The acceptor calls this to show that it has mapped the same memory. */
    void answer(long value) {
        LONG.setRelease(memory, ANSWER_AT, value);
    }

    long answered() {
        return (long) LONG.getAcquire(memory, ANSWER_AT);
    }

    /** Returns the direction from the initiator to the acceptor, or the reverse. */
    Direction direction(boolean fromInitiator) {
        return new Direction(fromInitiator ? 0 : 1);
    }

    @Override
    public void close() {
        mapped.close();
    }

    /** The positions, flags and ring of one direction. */
    final class Direction {
        private final long words;
        private final MemorySegment ring;

        private Direction(int index) {
            words = DIRECTIONS_AT + (long) index * DIRECTION_BYTES;
            ring = memory.asSlice(HEADER_BYTES + (long) index * RING_BYTES, RING_BYTES);
        }

        MemorySegment ring() {
            return ring;
        }

        long produced() {
            return (long) LONG.getAcquire(memory, words + PRODUCED_AT);
        }

        void produced(long position) {
            LONG.setRelease(memory, words + PRODUCED_AT, position);
        }

        long consumed() {
            return (long) LONG.getAcquire(memory, words + CONSUMED_AT);
        }

        void consumed(long position) {
            LONG.setRelease(memory, words + CONSUMED_AT, position);
        }

        /**
         * Signals that the producer has changed words in the consumer's regions. Returns true unless that was already
         * signalled.
         */
        boolean tellChanged() {
            return (long) LONG.getVolatile(memory, words + CHANGED_AT) == 0
                    && (long) LONG.getAndSet(memory, words + CHANGED_AT, 1L) == 0;
        }

        boolean takeChanged() {
            return hasChanged() && (long) LONG.getAndSet(memory, words + CHANGED_AT, 0L) != 0;
        }

        boolean hasChanged() {
            return (long) LONG.getAcquire(memory, words + CHANGED_AT) != 0;
        }

        /** Sets whether the consumer sleeps or is about to. */
        void parked(boolean parked) {
            LONG.setVolatile(memory, words + PARKED_AT, parked ? 1L : 0L);
            VarHandle.fullFence();
        }

        /**
         * Claims the wake-up of a sleeping consumer; true for one caller only. When it wakes, the consumer sees all
         * earlier writes.
         */
        boolean takeParked() {
            VarHandle.fullFence();
            return (long) LONG.getVolatile(memory, words + PARKED_AT) != 0
                    && (long) LONG.getAndSet(memory, words + PARKED_AT, 0L) != 0;
        }

        /** Sets whether the producer sleeps with unsent data. */
        void starved(boolean starved) {
            LONG.setVolatile(memory, words + STARVED_AT, starved ? 1L : 0L);
            VarHandle.fullFence();
        }

        boolean takeStarved() {
            VarHandle.fullFence();
            return (long) LONG.getVolatile(memory, words + STARVED_AT) != 0
                    && (long) LONG.getAndSet(memory, words + STARVED_AT, 0L) != 0;
        }
    }
}
