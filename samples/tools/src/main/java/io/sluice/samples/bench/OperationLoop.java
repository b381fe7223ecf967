package io.sluice.samples.bench;

import com.sun.management.ThreadMXBean;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.Team;
import io.sluice.engine.SluiceException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations one after the other: each is started by the callback of the one before, on the team's loop. A block of them begins
 * behind a barrier. All fields but the future belong to the loop while a block runs.
 */
final class OperationLoop {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long MOST_NANOS = 3_600_000_000_000L;
    private static final int DIGITS = 3;

    /** Latencies of the blocks that count. */
    private final Histogram latencies = new Histogram(1, MOST_NANOS, DIGITS);

    private final Team team;
    private final Operation operation;

    /** When operations of the block began and ended, by their slot; empty if it is of no interest. */
    private final long[] began;

    private final long[] ended;

    private CompletableFuture<@Nullable Void> block = new CompletableFuture<>();
    private boolean counts;
    private long total;
    private long done;
    private int signalsLeft;
    private boolean starting;
    private long last;

    private long blockBegan;
    private long blockNanos;
    private long nanos;
    private long operations;
    private long allocated;
    private long processorNanos;

    /** Starts an operation, which calls {@link #ended} once for each of its signals, on the team's loop. */
    interface Operation {
        default int signals() {
            return 1;
        }

        void start(long number, OperationLoop loop);
    }

    /**
     * For one case.
     *
     * @param timedSlots of how many operations of a block the times are kept
     */
    OperationLoop(Team team, Operation operation, int timedSlots) {
        this.team = team;
        this.operation = operation;
        began = new long[timedSlots];
        ended = new long[timedSlots];
    }

    /**
     * Runs a block.
     *
     * @param length how many operations, 1 or more
     * @param measured whether it counts
     * @return when the last operation has ended, or the first error
     */
    CompletableFuture<@Nullable Void> run(long length, boolean measured) {
        CompletableFuture<@Nullable Void> result = new CompletableFuture<>();
        block = result;
        counts = measured;
        total = length;
        done = 0;
        team.barrier(CollectiveOptions.defaults(), (barrier, error) -> {
            if (error == null) {
                begin();
            } else {
                result.completeExceptionally(error);
            }
        });
        return result;
    }

    private void begin() {
        processorNanos -= Usage.processCpuNanos();
        allocated -= THREADS.getCurrentThreadAllocatedBytes();
        last = System.nanoTime();
        blockBegan = last;
        blockNanos = -last;
        next();
    }

    /** An operation that ends in the call that starts it is not to recurse. */
    private void next() {
        starting = true;
        do {
            signalsLeft = operation.signals();
            if (began.length > 0) {
                began[(int) done] = last;
            }
            try {
                operation.start(done, this);
            } catch (SluiceException e) {
                block.completeExceptionally(e);
                return;
            }
        } while (signalsLeft == 0 && done < total);
        starting = false;
    }

    /** An operation that has begun gets ready first, which does not count, until it {@linkplain #resume resumes}. */
    void pause() {
        processorNanos += Usage.processCpuNanos();
    }

    /** Lets a paused operation begin now. */
    void resume() {
        processorNanos -= Usage.processCpuNanos();
        long now = System.nanoTime();
        blockNanos -= now - last;
        last = now;
    }

    /** An operation has ended, or one of its parts. */
    void ended(@Nullable SluiceException error) {
        if (error != null) {
            block.completeExceptionally(error);
            return;
        }
        if (--signalsLeft > 0) {
            return;
        }
        long now = System.nanoTime();
        if (counts) {
            latencies.recordValue(Math.max(1, now - last));
        }
        if (ended.length > 0) {
            ended[(int) done] = now;
        }
        last = now;
        done++;
        if (done == total) {
            finish();
        } else if (!starting) {
            next();
        }
    }

    private void finish() {
        blockNanos += last;
        allocated += THREADS.getCurrentThreadAllocatedBytes();
        processorNanos += Usage.processCpuNanos();
        if (counts) {
            nanos += blockNanos;
            operations += total;
        } else {
            allocated = 0;
            processorNanos = 0;
        }
        block.complete(null);
    }

    /** Of the last block. */
    long blockNanos() {
        return blockNanos;
    }

    /** When the last block began here, by {@link System#nanoTime}. */
    long blockBegan() {
        return blockBegan;
    }

    /** When its last operation ended here. */
    long blockEnded() {
        return last;
    }

    /** The last block has taken another time, as all ranks together see it. */
    void blockTook(long taken) {
        if (counts) {
            nanos += taken - blockNanos;
        }
        blockNanos = taken;
    }

    /** When each operation of the last block began here, by {@link System#nanoTime}. */
    long[] began() {
        return began;
    }

    long[] ended() {
        return ended;
    }

    /** What the blocks that count have taken on this rank. */
    RankFigures figures() {
        return new RankFigures(nanos, operations, allocated, processorNanos, latencies);
    }
}
