package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.ForkedJava;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A virtual machine of its own that runs a program of the tests to its end. */
final class TestProcess {
    private final List<String> prefix = new ArrayList<>();
    private final List<String> options = new ArrayList<>();
    private final Map<String, String> environment;

    private TestProcess(Map<String, String> environment) {
        this.environment = environment;
    }

    /** One on the same devices as this. */
    static TestProcess with(Map<String, String> environment) {
        TestProcess process = without(environment);
        if (TestDevices.areInThisProcess()) {
            process.options.add("-D" + Native.LIBRARY_PROPERTY + "=" + System.getProperty(Native.LIBRARY_PROPERTY));
        }
        return process;
    }

    /** One without the software adapter. */
    static TestProcess without(Map<String, String> environment) {
        return new TestProcess(environment);
    }

    /** Starts it through another program. */
    TestProcess through(String... command) {
        prefix.addAll(List.of(command));
        return this;
    }

    TestProcess option(String option) {
        options.add(option);
        return this;
    }

    /** Runs it; what it printed, which begins with the given character. */
    List<String> run(char mark, Class<?> program, String... arguments) {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ForkedJava.startOptions());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        Path output = null;
        try {
            // a pipe without a reader could fill up
            output = Files.createTempFile("sluice-test-process", ".txt");
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
            builder.environment().putAll(environment);
            Process process = builder.start();
            boolean ended = process.waitFor(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
            process.destroyForcibly();
            String text = Files.readString(output, StandardCharsets.UTF_8);
            assertThat(ended).as("it ends; its output: %s", text).isTrue();
            assertThat(process.exitValue())
                    .as("its status; its output: %s", text)
                    .isZero();
            return text.lines()
                    .filter(line -> !line.isEmpty() && line.charAt(0) == mark)
                    .map(line -> line.substring(1))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        } finally {
            if (output != null) {
                output.toFile().delete();
            }
        }
    }
}
