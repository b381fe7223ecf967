package io.sluice.stress;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs the jcstress tests of the module that extends this, the classes called {@code …Stress}: two or three threads meet in
 * every way that the machine can bring about, many thousands of times, and no forbidden outcome may be seen. The report lies
 * in {@code target/jcstress}.
 */
public abstract class StressSuite {
    private static final Path FOLDER = Path.of("target", "jcstress").toAbsolutePath();
    // the compilers' own randomness brings about what the machine alone would not
    private static final List<String> COMPILED_AT_RANDOM =
            List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:+StressLCM", "-XX:+StressGCM");

    /** Made by JUnit, as a part of the class that extends this. */
    protected StressSuite() {}

    /** All tests in one process: to start a JVM for each takes longer than the test. */
    @Test
    void noForbiddenOutcomeIsSeen() throws Exception {
        run(Patience.longBound(), COMPILED_AT_RANDOM, StressRun.ONE_PROCESS, "-f", "1", "-iters", "2", "-time", "8");
    }

    /** A JVM for each test and compiler. */
    @Test
    @Tag("soak")
    void noForbiddenOutcomeIsSeenInterpretedAndCompiledForMinutes() throws Exception {
        run(Patience.scaled(Duration.ofMinutes(55)), List.of(), "-f", "1", "-iters", "5", "-time", "1000");
    }

    private static void run(Duration bound, List<String> machine, String... options) throws Exception {
        Files.createDirectories(FOLDER);
        Path log = FOLDER.resolve("log.txt");
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.addAll(List.of("-Xmx256m", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(machine);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), StressRun.class.getName()));
        command.addAll(List.of(options));
        command.addAll(List.of("-r", FOLDER.resolve("report").toString()));
        Process process = new ProcessBuilder(command)
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
