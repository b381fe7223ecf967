package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The benchmarks of the shim run for a moment, so that none of them rots. Their figures here mean nothing. */
@Tag("verbs")
class VerbsBenchmarkTest {
    @Test
    void eachRunsOnce() throws RunnerException {
        Options options = new OptionsBuilder()
                .include(VerbsBenchmark.class.getName().replace(".", "\\."))
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
