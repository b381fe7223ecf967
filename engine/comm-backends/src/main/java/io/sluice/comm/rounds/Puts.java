package io.sluice.comm.rounds;

import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommCallback;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands operations to the thread and ends them. The loop's alone, or what follows it. */
final class Puts {
    private static final Logger LOG = LoggerFactory.getLogger(Puts.class);

    private final RoundWorker worker;
    private final int rank;
    private final int ranks;
    private final Deque<RoundOperation> free = new ArrayDeque<>();

    Puts(RoundWorker worker, int rank, int ranks) {
        this.worker = worker;
        this.rank = rank;
        this.ranks = ranks;
    }

    private RoundOperation take(RoundOperation.Kind kind, CommCallback callback) {
        RoundOperation taken = free.poll();
        return (taken == null ? new RoundOperation() : taken).set(kind, callback);
    }

    void checkRank(int other) {
        Objects.checkIndex(other, ranks);
        if (other == rank) {
            throw new IllegalArgumentException("rank " + other + " is this one");
        }
    }

    /**
     * Checks a put.
     *
     * @param source null without bytes
     */
    static void check(
            @Nullable HostMemory source,
            long sourceOffset,
            RoundMemory target,
            long targetOffset,
            long bytes,
            long signalOffset) {
        if (source != null) {
            Objects.checkFromIndexSize(sourceOffset, bytes, source.bytes());
        }
        Objects.checkFromIndexSize(targetOffset, bytes, target.bytes());
        if (signalOffset != RoundOperation.NO_SIGNAL) {
            checkWord(target, signalOffset);
        }
    }

    static void checkWord(RoundMemory memory, long offset) {
        Objects.checkFromIndexSize(offset, Long.BYTES, memory.bytes());
        if (offset % Long.BYTES != 0) {
            throw new IllegalArgumentException("a word lies at a multiple of 8, not at " + offset);
        }
    }

    void put(
            @Nullable HostMemory source,
            long sourceOffset,
            RoundMemory target,
            long targetOffset,
            long bytes,
            long signalOffset,
            long addend,
            int other,
            CommCallback callback) {
        SluiceException failure = worker.failure();
        if (failure != null) {
            throw failure;
        }
        RoundOperation put = take(RoundOperation.Kind.PUT, callback);
        put.source = source;
        put.sourceOffset = sourceOffset;
        put.memory = target.number;
        put.targetOffset = targetOffset;
        put.bytes = bytes;
        put.signalOffset = signalOffset;
        put.addend = addend;
        put.rank = other;
        worker.submit(put);
    }

    void barrier(RoundOperation.Kind kind, CommCallback callback) {
        worker.submit(take(kind, callback));
    }

    private static void tell(CommCallback callback, @Nullable SluiceException error) {
        try {
            callback.ended(error);
        } catch (RuntimeException e) {
            // the others must be told all the same
            LOG.error("the callback of an operation threw an exception", e);
        }
    }

    /** Tells those that have ended. */
    void endDone() {
        for (RoundOperation each = worker.done.takeAll(); each != null; ) {
            RoundOperation after = RoundOperation.Queue.after(each);
            CommCallback callback = each.callback;
            SluiceException error = each.error;
            each.callback = null;
            each.source = null;
            if (each.kind != RoundOperation.Kind.FREE) {
                free.push(each);
            }
            if (callback != null) {
                tell(callback, error);
            }
            each = after;
        }
    }
}
