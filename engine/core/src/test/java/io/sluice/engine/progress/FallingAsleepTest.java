package io.sluice.engine.progress;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A task is handed over at each moment of a poller's falling asleep; each has to wake it, or be seen before it sleeps. */
class FallingAsleepTest {
    private static final EngineOptions SLEEPY =
            PatientOptions.builder().spin(Duration.ZERO).yield(Duration.ZERO).build();
    private static final boolean SOAK =
            System.getProperty("sluice.test.profile", "").equals("soak");
    private static final long TIME_NANOS = TimeUnit.SECONDS.toNanos(SOAK ? 15 : 1);
    private static final long PATIENCE_NANOS = Patience.BOUND.toNanos();
    private static final long YIELDING_NANOS = 1_000_000;

    // a poller that has run a task looks once more for work, which takes about a microsecond, and sleeps
    private static final int LONGEST_DELAY_NANOS = 6_000;

    @Test
    void noTaskIsSleptOver() throws Exception {
        Poller poller = new Poller("falling-asleep-test", 0, SLEEPY, failing -> {});
        poller.start();
        try {
            AtomicLong runs = new AtomicLong();
            Runnable task = runs::incrementAndGet;
            SplittableRandom random = new SplittableRandom(1);
            long end = System.nanoTime() + TIME_NANOS;
            long handedOver = 0;
            while (System.nanoTime() < end) {
                spin(random.nextInt(LONGEST_DELAY_NANOS));
                poller.execute(task);
                handedOver++;
                awaitRun(runs, handedOver);
            }
            assertThat(handedOver).isPositive();
        } finally {
            Patience.await(poller.stop());
        }
    }

    private static void spin(long nanos) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < nanos) {
            Thread.onSpinWait();
        }
    }

    private static void awaitRun(AtomicLong runs, long count) {
        long start = System.nanoTime();
        while (runs.get() != count) {
            Thread.onSpinWait();
            long waited = System.nanoTime() - start;
            if (waited > YIELDING_NANOS) {
                // on a busy machine the poller may need this very processor
                Thread.yield();
            }
            if (waited > PATIENCE_NANOS) {
                assertThat(runs).as("tasks that have run").hasValue(count);
            }
        }
    }
}
