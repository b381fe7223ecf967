package io.sluice.engine.progress;

import io.sluice.engine.EngineOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** The cost of handing a task to a poller that does not sleep, until the task has run there. */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class PollerBenchmark {
    private static final EngineOptions SPINNING =
            PatientOptions.builder().spin(Duration.ofSeconds(60)).build();

    private final Runnable task = this::ran;
    private Poller poller;
    private volatile long runs;

    @SuppressWarnings("NonAtomicVolatileUpdate") // the poller alone writes it
    private void ran() {
        runs++;
    }

    /** Starts the poller. */
    @Setup
    public void start() {
        poller = new Poller("poller-benchmark", 0, SPINNING, failing -> {});
        poller.start();
    }

    /** Stops it. */
    @TearDown
    public void stop() {
        Patience.await(poller.stop());
    }

    /**
     * There, and the news of it back.
     *
     * @return how many have run
     */
    @Benchmark
    public long handOver() {
        long before = runs;
        poller.execute(task);
        while (runs == before) {
            Thread.onSpinWait();
        }
        return before;
    }
}
