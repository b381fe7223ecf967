package io.sluice.engine.flow;

import io.sluice.engine.transport.Capabilities;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The cost of computing the sizes of an element's chunks. */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class ChunkerBenchmark {
    /** An element's length in bytes. */
    @Param({"8", "16777216"})
    public long bytes;

    private final Chunker chunker = new Chunker(64L << 20, Integer.MAX_VALUE, Capabilities.PREFERRED_CHUNK);

    /**
     * One element's.
     *
     * @return the length of its pieces
     */
    @Benchmark
    public long chunk() {
        return chunker.chunk(bytes);
    }
}
