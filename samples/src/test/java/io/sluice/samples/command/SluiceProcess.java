package io.sluice.samples.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.SluiceCommand;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** The program in a process of its own. It is gone once this is closed. */
final class SluiceProcess implements AutoCloseable {

    static final Duration BOUND = Patience.BOUND;

    /**
     * Options of the virtual machine. A process that ends before code is hot gains nothing by the compiler for hot code, and
     * little by the other one; a small one needs no collector with threads of its own, and no figures for jstat.
     */
    static final List<String> OPTIONS = List.of(
            "-XX:TieredStopAtLevel=1",
            "-XX:CompileThresholdScaling=4",
            "-XX:-UsePerfData",
            "-XX:+UseSerialGC",
            "-Xmx256m",
            "-Xcheck:jni",
            "--enable-native-access=ALL-UNNAMED");

    private final Process process;
    private final Path out;
    private final Path err;

    private SluiceProcess(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** Starts it; what it prints goes to files in a folder. */
    static SluiceProcess start(Path folder, String... arguments) throws IOException {
        return start(folder, Map.of(), arguments);
    }

    static SluiceProcess start(Path folder, Map<String, String> environment, String... arguments) throws IOException {
        ProcessBuilder builder = builder(folder, arguments);
        builder.environment().putAll(environment);
        return start(builder, folder);
    }

    /** The same in another working directory. */
    static SluiceProcess startIn(Path directory, Path folder, String... arguments) throws IOException {
        return start(builder(folder, arguments).directory(directory.toFile()), folder);
    }

    /** The same on another class path. */
    static SluiceProcess startOn(String classPath, Path folder, Map<String, String> environment, String... arguments)
            throws IOException {
        ProcessBuilder builder = builder(folder, OPTIONS, classPath, arguments);
        builder.environment().putAll(environment);
        return start(builder, folder);
    }

    private static ProcessBuilder builder(Path folder, String... arguments) {
        TestedProgram program = TestedProgram.chosen();
        List<String> options = new ArrayList<>(OPTIONS);
        options.addAll(program.options());
        return builder(folder, options, program.classPath(), arguments);
    }

    private static ProcessBuilder builder(Path folder, List<String> options, String classPath, String... arguments) {
        List<String> command = new ArrayList<>();
        if (Files.isExecutable(Path.of("/usr/bin/env"))) {
            // Tests that run in the background may ignore SIGINT, and a process inherits that.
            command.addAll(List.of("/usr/bin/env", "--default-signal=INT"));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of(
                // The files of a killed process are deleted with the test's folder.
                "-Djava.io.tmpdir=" + folder, "-cp", classPath, SluiceCommand.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(PatientOptions.environment());
        return builder;
    }

    private static SluiceProcess start(ProcessBuilder builder, Path folder) throws IOException {
        Path out = Files.createTempFile(folder, "out", ".txt");
        return start(builder, out, folder);
    }

    private static SluiceProcess start(ProcessBuilder builder, Path out, Path folder) throws IOException {
        Path err = Files.createTempFile(folder, "err", ".txt");
        builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        return new SluiceProcess(builder.start(), out, err);
    }

    /** Runs it to its end, where all that it prints is lost. */
    static SluiceProcess runOnFullDisk(Path folder, String... arguments) throws IOException {
        SluiceProcess program = start(builder(folder, arguments), Path.of("/dev/full"), folder);
        program.awaitEnd();
        return program;
    }

    /** Runs it to its end. */
    static SluiceProcess run(Path folder, String... arguments) throws IOException {
        SluiceProcess program = start(folder, arguments);
        program.awaitEnd();
        return program;
    }

    /** Waits for its end; its exit status. */
    int awaitEnd() {
        return awaitEnd(BOUND);
    }

    /** The same for one that may take longer. */
    int awaitEnd(Duration bound) {
        try {
            if (!process.waitFor(bound.toNanos(), TimeUnit.NANOSECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("it did not end within " + bound + "\n" + this);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
        return process.exitValue();
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    /** The one process that it has started. */
    ProcessHandle awaitChild() {
        Awaitility.await()
                .atMost(BOUND)
                .until(() -> process.children().findAny().isPresent() || !process.isAlive());
        return process.children().findAny().orElseThrow(() -> new AssertionError("it ended without a child\n" + this));
    }

    String out() {
        return read(out);
    }

    String err() {
        return read(err);
    }

    void signal(String name) throws IOException {
        Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid())
                .inheritIO()
                .start();
        Patience.exit(kill);
    }

    /** Returns its ready file once it listens. The file of an earlier process may vanish meanwhile. */
    JsonNode awaitReady(Path file) throws IOException {
        Awaitility.await().atMost(BOUND).until(() -> !process.isAlive() || isObject(file));
        if (!isObject(file)) {
            throw new AssertionError("it ended before it was ready\n" + this);
        }
        return json(file);
    }

    private static boolean isObject(Path file) throws IOException {
        try {
            return Files.readString(file).startsWith("{");
        } catch (NoSuchFileException notYet) {
            return false;
        }
    }

    static JsonNode json(Path file) throws IOException {
        return new ObjectMapper().readTree(file.toFile());
    }

    /** An object of each line. */
    static List<JsonNode> jsonLines(String text) throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : text.lines().toList()) {
            lines.add(new ObjectMapper().readTree(line));
        }
        return lines;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public String toString() {
        String printed = Files.isRegularFile(out) ? out() : "lost";
        return "status " + (process.isAlive() ? "none yet" : process.exitValue()) + "\nout: " + printed + "\nerr: "
                + err();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
