package io.sluice.samples.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Prometheus' own linter. */
public final class Promtool {

    private static final String NAME = "promtool";
    private static final Duration BOUND = Patience.BOUND;

    private Promtool() {}

    /** Skips the test, and says why, where it is not there. */
    public static void assumeInstalled() {
        Assumptions.assumeTrue(
                Programs.find(NAME).isPresent(),
                "promtool is missing: apt-get install prometheus, or ./sluice test, brings it");
    }

    /**
     * Returns its complaints about a scrape; empty if there are none.
     *
     * @param folder for the scrape and the answer
     */
    public static String complaints(String scrape, Path folder) throws IOException, InterruptedException {
        Path input = Files.writeString(Files.createTempFile(folder, NAME, ".in"), scrape);
        Path output = Files.createTempFile(folder, NAME, ".out");
        Process process = new ProcessBuilder(NAME, "check", "metrics")
                .redirectInput(input.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(BOUND.toNanos(), TimeUnit.NANOSECONDS))
                    .as("it ends")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(output);
        return process.exitValue() == 0 ? said : "status " + process.exitValue() + ": " + said;
    }
}
