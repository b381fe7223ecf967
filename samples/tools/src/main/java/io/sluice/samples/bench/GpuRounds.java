package io.sluice.samples.bench;

import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuTimer;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Waits for what is started in a stream of a GPU, and measures there what follows each other. */
final class GpuRounds implements AutoCloseable {
    private static final int LEAST_ROUNDS = 3;
    private static final int MOST_ROUNDS = 100;
    private static final long ROUND_NANOS = 50_000_000;

    private final GpuTimer timer;
    private final SignalWait wait;
    private volatile @Nullable Reached then;

    /** Learns on the team's loop that the stream has come to a number, or why not. */
    interface Reached {
        void reached(@Nullable SluiceException error);
    }

    /**
     * For a stream.
     *
     * @param waits makes waits for its numbers
     */
    GpuRounds(GpuStream stream, Function<SignalCallback, SignalWait> waits) {
        timer = stream.timer();
        wait = waits.apply(
                (armed, number, error) -> Objects.requireNonNull(then).reached(error));
    }

    /** Waits for a number, one after the other. */
    void arm(long number, Reached next) {
        then = next;
        wait.arm(number);
    }

    /** Waits for a number, on the thread of the control. */
    void await(long number, RankControl control) {
        CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
        arm(number, error -> GpuCopies.end(end, error));
        control.await(end);
    }

    /**
     * Measures a step by the driver's events, the median of rounds of several; all ranks call it, and the first one decides how many.
     *
     * @param most steps that are under way at a time
     * @param aligning starts what waits for all ranks, before the clock runs
     * @param step starts what is measured, without numbers
     * @return microseconds, on the slowest rank
     */
    double micros(RankControl control, Duration duration, long most, Runnable aligning, Runnable step) {
        long end = System.nanoTime() + duration.toNanos();
        // one tells how many make a round
        long first = round(1, aligning, step, control);
        long steps = control.agreed(Math.clamp(ROUND_NANOS / Math.max(1, first), 1, most));
        long[] rounds = new long[MOST_ROUNDS];
        int count = 0;
        boolean isEnough;
        do {
            rounds[count++] = round(steps, aligning, step, control);
            isEnough = count == MOST_ROUNDS || (count >= LEAST_ROUNDS && System.nanoTime() - end > 0);
        } while (control.agreed(isEnough ? 0 : 1) == 1);
        Arrays.sort(rounds, 0, count);
        long[] slowest = {rounds[count / 2]};
        control.greatest(slowest);
        return slowest[0] / 1e3 / steps;
    }

    private long round(long steps, Runnable aligning, Runnable step, RankControl control) {
        aligning.run();
        timer.begin();
        for (long i = 0; i < steps; i++) {
            step.run();
        }
        await(timer.end(), control);
        return timer.nanos();
    }

    @Override
    public void close() {
        wait.close();
        timer.close();
    }
}
