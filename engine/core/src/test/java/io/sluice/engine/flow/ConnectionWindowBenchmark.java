package io.sluice.engine.flow;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The cost of acquiring and returning credits of the connection and of the engine. */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class ConnectionWindowBenchmark {
    private static final int BYTES = 4096;

    private final EngineWindow engineWindow = new EngineWindow(1024, 1 << 20);
    private final CreditWaiter waiter = new SteppedFlow(engineWindow).flow.mailbox();
    private final ConnectionWindow window = new ConnectionWindow(256, 1 << 20, engineWindow);

    /**
     * One transfer's credits.
     *
     * @return whether both were granted
     */
    @Benchmark
    public boolean acquireAndRelease() {
        boolean granted = window.tryAcquire(waiter, 1, BYTES) == ConnectionWindow.Grant.GRANTED;
        if (!granted) {
            throw new IllegalStateException("a credit is missing");
        }
        window.release(1, BYTES);
        return granted;
    }
}
