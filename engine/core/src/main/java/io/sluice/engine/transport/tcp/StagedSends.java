package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.StagedMemory;
import io.sluice.engine.transport.StagingRing;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Payloads of a lane's frames that lie in memory of a device: copied ahead of the socket to the pieces of a ring, in the
 * order of the frames. Confined to the connection's loop.
 */
final class StagedSends {
    private final EventLoop loop;
    private final Runnable progress;
    // opened for the first such payload
    private @Nullable StagingRing ring;
    private final ArrayDeque<StagedPayload> toStage = new ArrayDeque<>();
    private final ArrayDeque<StagedPayload> free = new ArrayDeque<>();
    // by piece: which bytes of which payload are there
    private @Nullable StagedPayload[] payloads = {};
    private long[] froms = {};
    private long[] lengths = {};
    // pieces in use, in order
    private long head;
    private long tail;

    /**
     * Creates one without a ring.
     *
     * @param progress run when more may be sent
     */
    StagedSends(EventLoop loop, Runnable progress) {
        this.loop = loop;
        this.progress = progress;
    }

    /**
     * Adds the payload of the frame that is added last.
     *
     * @param device the payload's memory
     * @param address the device's address of the payload; unused if there are pages
     * @param pages the pages of the payload, or null
     * @param length the length, with a table before the pages; at least 1
     */
    StagedPayload add(StagedMemory device, long address, @Nullable PagedPayload pages, long length) {
        StagedPayload payload = free.pollFirst();
        if (payload == null) {
            payload = new StagedPayload(this);
        }
        payload.begin(device, address, pages, length);
        toStage.addLast(payload);
        return payload;
    }

    /** Lets devices copy ahead, as far as there are pieces. */
    void stage() {
        StagedPayload next;
        while ((next = toStage.peekFirst()) != null) {
            StagingRing open = ring;
            if (open == null) {
                open = next.device().openRing(loop, progress);
                ring = open;
                payloads = new @Nullable StagedPayload[open.pieces()];
                froms = new long[open.pieces()];
                lengths = new long[open.pieces()];
            }
            if (tail - head == payloads.length || !open.isReady(next.device())) {
                return;
            }
            int piece = (int) (tail++ % payloads.length);
            payloads[piece] = next;
            froms[piece] = next.staged();
            lengths[piece] = next.stage(open, piece);
            if (next.isStaged()) {
                toStage.removeFirst();
            }
        }
    }

    /**
     * How many bytes of a payload have been copied and follow each other from a position on.
     *
     * @throws IllegalStateException if the device could not copy them
     */
    long available(StagedPayload payload, long position) {
        StagingRing open = ring;
        int piece = piece(payload, position);
        if (open == null || piece < 0 || !open.isDone(piece)) {
            return 0;
        }
        if (open.hasFailed(piece)) {
            throw new IllegalStateException("a device could not copy the bytes to send");
        }
        return froms[piece] + lengths[piece] - position;
    }

    private int piece(StagedPayload payload, long position) {
        for (long i = head; i < tail; i++) {
            int piece = (int) (i % payloads.length);
            if (payload.equals(payloads[piece])
                    && position >= froms[piece]
                    && position < froms[piece] + lengths[piece]) {
                return piece;
            }
        }
        return -1;
    }

    /** Where such bytes are in the ring; only if some are available. */
    long offset(StagedPayload payload, long position) {
        StagingRing open = ring;
        int piece = piece(payload, position);
        if (open == null || piece < 0) {
            throw new IllegalStateException("nothing is staged there");
        }
        return piece * open.pieceBytes() + position - froms[piece];
    }

    /** The ring's memory; only if some bytes are available. */
    MemorySegment memory() {
        StagingRing open = ring;
        return open == null ? MemorySegment.NULL : open.memory();
    }

    /** All of the first payload before a position has been sent. */
    void sent(StagedPayload payload, long position) {
        while (head < tail) {
            int piece = (int) (head % payloads.length);
            if (!payload.equals(payloads[piece]) || froms[piece] + lengths[piece] > position) {
                return;
            }
            payloads[piece] = null;
            head++;
        }
    }

    /** A payload has been sent, or none of it was staged and it is not to be sent. */
    void remove(StagedPayload payload) {
        if (!payload.isStaged()) {
            toStage.remove(payload);
        }
        payload.end();
        free.addFirst(payload);
    }

    /** Whether no device reads for it. */
    boolean isIdle() {
        return ring == null || ring.isIdle();
    }

    /** Whether a device's oldest work has not been done for so long. */
    boolean isOverdue(long now, long timeoutNanos) {
        return ring != null && ring.waited(now) > timeoutNanos;
    }

    /** Drops everything; it is idle. */
    void clear() {
        while (head < tail) {
            payloads[(int) (head++ % payloads.length)] = null;
        }
        toStage.clear();
    }

    /** Gives the ring back; it is idle. */
    void close() {
        if (ring != null) {
            ring.close();
        }
    }
}
