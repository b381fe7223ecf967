package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.LatencyHistogram;
import java.util.Random;
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

/** The cost of timing an operation: reading the clock, finding a bucket and counting. */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class LatencyBucketsBenchmark {
    private static final int TIMES = 4096;
    private static final long[] BOUNDS = LatencyHistogram.boundsNanos();

    // from a microsecond to a second, so that no branch is foreseen
    private final long[] times = new Random(1)
            .longs(TIMES, 10, 30)
            .map(shift -> (1L << shift) + shift)
            .toArray();
    private final FlowCounters counters = new FlowCounters();
    private int next;

    private long nextTime() {
        next = next + 1 & TIMES - 1;
        return times[next];
    }

    /**
     * By table and one comparison.
     *
     * @return the bucket
     */
    @Benchmark
    public int byTable() {
        return LatencyBuckets.indexOf(nextTime());
    }

    /**
     * By comparing with each bound, as a measure.
     *
     * @return the bucket
     */
    @Benchmark
    public int byEachBound() {
        long nanos = nextTime();
        int index = 0;
        while (index < BOUNDS.length && nanos > BOUNDS[index]) {
            index++;
        }
        return index;
    }

    /**
     * Everything that is counted of an operation that succeeds, but for its peer.
     *
     * @return the counters
     */
    @Benchmark
    public FlowCounters counted() {
        counters.succeeded(Operation.WRITE, 4096, nextTime(), nextTime());
        return counters;
    }

    /**
     * One look at the clock.
     *
     * @return the time
     */
    @Benchmark
    public long clock() {
        return System.nanoTime();
    }
}
