package io.sluice.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs this module's jcstress tests, the classes called {@code …Stress}: two or three threads meet in every way that the
 * machine can bring about, many thousands of times, and no forbidden outcome may be seen. The report lies in
 * {@code target/jcstress}.
 */
class StressTest {
    private static final Path FOLDER = Path.of("target", "jcstress").toAbsolutePath();

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void noForbiddenOutcomeIsSeen() throws Exception {
        // the compilers' own randomness brings about what the machine alone would not
        String compiledAtRandom = "-XX:+UnlockDiagnosticVMOptions -XX:+StressLCM -XX:+StressGCM";
        run(Duration.ofMinutes(9), "-f", "1", "-iters", "2", "-time", "150", "-jvmArgs", compiledAtRandom);
    }

    @Test
    @Tag("soak")
    void noForbiddenOutcomeIsSeenInterpretedAndCompiledForMinutes() throws Exception {
        run(Duration.ofMinutes(55), "-f", "1", "-iters", "5", "-time", "1000");
    }

    private static void run(Duration bound, String... options) throws Exception {
        Files.createDirectories(FOLDER);
        Path log = FOLDER.resolve("log.txt");
        List<String> java = List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                StressRun.class.getName(),
                "-r",
                FOLDER.resolve("report").toString());
        Process process = new ProcessBuilder(
                        Stream.concat(java.stream(), Stream.of(options)).toList())
                .directory(FOLDER.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(process.waitFor(bound.toSeconds(), TimeUnit.SECONDS))
                    .as("the stress tests end within %s; see %s", bound, log)
                    .isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        List<String> faults = Files.readAllLines(log).stream()
                .filter(line -> line.startsWith(StressRun.FAULT))
                .toList();
        assertThat(faults).as("see %s", log).isEmpty();
        assertThat(process.exitValue()).as("see %s", log).isZero();
    }
}
