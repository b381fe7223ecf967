package io.sluice.engine.memory;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.WorkRequest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Computes the checksums that the peer asks for, one at a time and a piece of it in each duty cycle, so that the
 * poller's other work is not held up. The peer may request checksums of ranges that it may read; the region is leased
 * meanwhile.
 */
public final class ServedChecksums extends Deadline {
    /** The status that reports progress: a piece was summed since the last report, but not the last one. */
    static final int UNDER_WAY = 255;

    /** request, handle, key, epoch, offset, length. */
    static final int QUESTION_BYTES = 48;

    /** request, status, checksum. */
    static final int ANSWER_BYTES = 13;

    private static final long PIECE = 1 << 20;
    // a device's bytes come slowly
    private static final long DEVICE_PIECE = PIECE / 4;
    private static final long WORD_NANOS = 1_000_000_000L;

    private final Poller loop;
    private final ExportTable exports;
    private final FramedSocket control;
    private @Nullable MemoryChecksum sum;
    private @Nullable RegionExport region;
    private long request;
    private long at;
    private long end;
    private long lastWord;
    // the progress then
    private long saidAt;
    // the time of the cycle in which a piece was summed
    private long workedAt = System.nanoTime();

    public ServedChecksums(Poller loop, ExportTable exports, FramedSocket control) {
        this.loop = loop;
        this.exports = exports;
        this.control = control;
    }

    /** Returns how often progress may be reported for a number of bytes. */
    static long mostWords(long length) {
        return Math.max(0, (length - 1) / PIECE);
    }

    public void asked(ByteBuffer body) {
        if (body.remaining() != QUESTION_BYTES) {
            throw new ProtocolException("a question for a checksum of " + body.remaining() + " bytes");
        }
        if (region != null) {
            throw new ProtocolException("the peer asks for a checksum before it has the last one");
        }
        request = body.getLong();
        RegionExport exported = exports.get(body.getLong());
        long key = body.getLong();
        long epoch = body.getLong();
        long offset = body.getLong();
        long length = body.getLong();
        CompletionStatus status = exported == null
                ? CompletionStatus.UNKNOWN_REGION
                : exported.acquire(WorkRequest.Opcode.READ, key, epoch, offset, length);
        if (exported == null || status != CompletionStatus.SUCCESS) {
            answer(status.code(), 0);
            return;
        }
        if (!exported.canBeSummed()) {
            exported.release();
            answer(CompletionStatus.UNSUPPORTED.code(), 0);
            return;
        }
        region = exported;
        at = offset;
        end = offset + length;
        lastWord = loop.now();
        saidAt = offset;
        MemoryChecksum known = sum;
        if (known == null) {
            known = new MemoryChecksum();
            sum = known;
        }
        known.reset();
        if (workedAt == loop.now()) {
            // a peer that asks for many short ones gets no more of a cycle
            loop.arm(this, loop.now() + 1);
        } else {
            work(exported, known);
        }
    }

    @Override
    protected void expired() {
        RegionExport exported = region;
        MemoryChecksum running = sum;
        if (exported != null && running != null) {
            work(exported, running);
        }
    }

    private void work(RegionExport exported, MemoryChecksum running) {
        CompletionStatus status = CompletionStatus.SUCCESS;
        workedAt = loop.now();
        if (!exported.isOpen()) {
            status = CompletionStatus.UNKNOWN_REGION;
        } else {
            long part = Math.min(end - at, exported.memory().isHost() ? PIECE : DEVICE_PIECE);
            try {
                exported.addTo(running, at, part);
                at += part;
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was truncated
                status = CompletionStatus.REMOTE_MEMORY_FAULT;
            }
        }
        if (status == CompletionStatus.SUCCESS && at < end) {
            long now = loop.now();
            if (now - lastWord > WORD_NANOS && at - saidAt >= PIECE) {
                lastWord = now;
                saidAt = at;
                answer(UNDER_WAY, 0);
            }
            // after now, so that it is the next cycle's
            loop.arm(this, now + 1);
            return;
        }
        stop();
        answer(status.code(), running.value());
    }

    private void answer(int status, int value) {
        control.answer(
                MessageType.CHECKSUM_RESULT,
                ByteBuffer.allocate(ANSWER_BYTES)
                        .putLong(request)
                        .put((byte) status)
                        .putInt(value)
                        .array());
    }

    /** Stops the current checksum, also when the connection ends. */
    public void stop() {
        RegionExport leased = region;
        if (leased != null) {
            region = null;
            loop.disarm(this);
            leased.release();
        }
    }
}
