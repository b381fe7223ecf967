package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Each of this module's benchmarks runs for a moment, so that none of them rots. The figures mean nothing here. */
class BenchmarksTest {
    @Test
    void eachRunsOnce() throws RunnerException {
        Options options = new OptionsBuilder()
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(20))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT)
                .build();
        Collection<RunResult> results = new Runner(options).run();
        assertThat(results)
                .isNotEmpty()
                .allSatisfy(result -> assertThat(result.getPrimaryResult().getScore())
                        .as(result.getParams().getBenchmark())
                        .isPositive());
    }
}
