package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.StagedMemory;
import io.sluice.engine.transport.StagingRing;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The payload that is coming in on a lane for memory of a device: it is received into the pieces of a ring, and a device
 * copies a piece while the next is filled. Confined to the connection's loop.
 */
final class StagedReceives {
    private final EventLoop loop;
    private final Runnable progress;
    // opened for the first such payload
    private @Nullable StagingRing ring;

    // of the payload that is coming in; null: it is none of a device
    private @Nullable StagedMemory device;
    private @Nullable PagedPayload pages;
    private long address;
    private long position;
    private long remaining;
    private long filled;
    private boolean failed;
    // pieces that a device copies
    private long head;
    private long tail;

    /**
     * Creates one without a ring.
     *
     * @param progress run when more may be received
     */
    StagedReceives(EventLoop loop, Runnable progress) {
        this.loop = loop;
        this.progress = progress;
    }

    /**
     * A payload begins.
     *
     * @param to the memory
     * @param deviceAddress the device's address of the payload; unused if there are pages
     * @param paged the pages of the payload, or null
     * @param length the length, at least 0
     */
    void begin(StagedMemory to, long deviceAddress, @Nullable PagedPayload paged, long length) {
        device = to;
        address = deviceAddress;
        pages = paged;
        position = 0;
        remaining = length;
        filled = 0;
        failed = false;
        if (ring == null) {
            ring = to.openRing(loop, progress);
        }
    }

    /** Whether a payload for a device is coming in, or has come and is not where it belongs yet. */
    boolean isActive() {
        return device != null;
    }

    /** Whether there has been such a payload. */
    boolean isOpen() {
        return ring != null;
    }

    private StagingRing ring() {
        StagingRing open = ring;
        if (open == null) {
            throw new IllegalStateException("no payload of a device is coming in");
        }
        return open;
    }

    /** How many bytes can be received to {@link #memory} from {@link #offset} on; 0 while the device has to make room. */
    long room() {
        StagedMemory to = device;
        StagingRing open = ring();
        reap();
        if (to == null || !open.isReady(to) || tail - head == open.pieces()) {
            return 0;
        }
        return Math.min(remaining, capacity(open) - filled);
    }

    private long capacity(StagingRing open) {
        return pages == null ? open.pieceBytes() : pages.fitting(open.pieceBytes());
    }

    MemorySegment memory() {
        return ring().memory();
    }

    long offset() {
        return piece(tail) * ring().pieceBytes() + filled;
    }

    private int piece(long number) {
        return (int) (number % ring().pieces());
    }

    /** So many bytes have been received, no more than there was room for. */
    void placed(long bytes) {
        StagingRing open = ring();
        filled += bytes;
        remaining -= bytes;
        StagedMemory to = device;
        if (to == null || filled == 0 || (filled < capacity(open) && remaining > 0)) {
            return;
        }
        open.begin(piece(tail), to, false);
        if (pages == null) {
            open.add(address + position, 0, filled);
        } else {
            pages.stage(open, position, filled);
        }
        open.end();
        position += filled;
        filled = 0;
        tail++;
    }

    private void reap() {
        StagingRing open = ring();
        while (head < tail && open.isDone(piece(head))) {
            failed |= open.hasFailed(piece(head));
            head++;
        }
    }

    /** Whether the device has done with all that it was given. */
    boolean isDone() {
        reap();
        return head == tail;
    }

    /** Whether a part of the payload could not be copied, once it is done. */
    boolean hasFailed() {
        return failed;
    }

    /** The payload has ended, and the device is done. */
    void end() {
        device = null;
        pages = null;
    }

    /** Whether no device writes for it. */
    boolean isIdle() {
        return ring == null || ring.isIdle();
    }

    /** Whether a device's oldest work has not been done for so long. */
    boolean isOverdue(long now, long timeoutNanos) {
        return ring != null && ring.waited(now) > timeoutNanos;
    }

    /** Gives the ring back; it is idle. */
    void close() {
        end();
        if (ring != null) {
            ring.close();
        }
    }
}
