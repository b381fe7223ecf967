package io.sluice.samples.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A program in a process of its own, which is gone, with those that it has started, once this is closed. Even if this
 * program is killed it ends after a bounded time.
 */
final class ToolProcess implements AutoCloseable {
    private static final Duration END_BY_SIGNAL = Duration.ofSeconds(5);
    private static final long POLL_MILLIS = 100;
    private static final int MOST_WORDS = 200;

    /** A look takes in all processes of the machine, and what is measured would feel more of them. */
    private static final int LOOKS_FOR_FAMILY = 10;

    private final Process process;
    private final Path out;
    private final Path err;
    private final Map<ProcessHandle, Duration> family = new LinkedHashMap<>();
    private int looks;

    private ToolProcess(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /**
     * Starts one.
     *
     * @param folder for what it prints
     * @param environment variables besides this process's
     * @param bound the time after which it ends in any case
     */
    static ToolProcess start(Path folder, Map<String, String> environment, Duration bound, List<String> command) {
        // For the case that this process is gone and cannot kill what hangs.
        List<String> bounded =
                new ArrayList<>(List.of("timeout", "-s", "KILL", Long.toString(2 * bound.toSeconds() + 1)));
        bounded.addAll(command);
        try {
            Path out = Files.createTempFile(folder, "out", ".txt");
            Path err = Files.createTempFile(folder, "err", ".txt");
            ProcessBuilder builder = new ProcessBuilder(bounded)
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().putAll(environment);
            return new ToolProcess(builder.start(), out, err);
        } catch (IOException e) {
            throw new UncheckedIOException("a process cannot be started: " + e.getMessage(), e);
        }
    }

    /**
     * Waits until it has ended, with success.
     *
     * @return what it has printed
     * @throws MeasurementFailedException if it fails or takes longer than a bound
     */
    String await(Duration bound, BooleanSupplier interrupted) throws MeasurementFailedException {
        long deadline = System.nanoTime() + bound.toNanos();
        while (!endsWithin(POLL_MILLIS)) {
            if (interrupted.getAsBoolean()) {
                throw new BrokenOffException();
            }
            if (System.nanoTime() - deadline > 0) {
                throw new MeasurementFailedException("it did not end within " + bound.toSeconds() + " s");
            }
        }
        if (interrupted.getAsBoolean()) {
            // A signal to the whole process group has ended it before this process learned of it.
            throw new BrokenOffException();
        }
        if (process.exitValue() != 0) {
            throw new MeasurementFailedException("status " + process.exitValue() + ": " + lastWords());
        }
        return read(out);
    }

    /** Processor time until now, as the system counts it, of it and of what it has started by the tenth call. */
    Duration processorTime() {
        if (looks < LOOKS_FOR_FAMILY) {
            looks++;
            Stream.concat(Stream.of(process.toHandle()), process.descendants())
                    .forEach(handle -> family.putIfAbsent(handle, Duration.ZERO));
        }
        // the time of one that has ended stays as it was seen last
        family.replaceAll((handle, seen) -> handle.info().totalCpuDuration().orElse(seen));
        return family.values().stream().reduce(Duration.ZERO, Duration::plus);
    }

    boolean endsWithin(long millis) {
        try {
            return process.waitFor(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BrokenOffException();
        }
    }

    /** The last line that it has written about itself. */
    String lastWords() {
        String words = (read(out) + "\n" + read(err))
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .reduce((first, second) -> second)
                .orElse("it has said nothing");
        return words.length() <= MOST_WORDS ? words : words.substring(0, MOST_WORDS) + "...";
    }

    private static String read(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(file + " cannot be read", e);
        }
    }

    @Override
    public void close() {
        List<ProcessHandle> started = process.descendants().toList();
        process.destroy();
        if (!endsWithin(END_BY_SIGNAL.toMillis())) {
            process.destroyForcibly();
        }
        started.forEach(ProcessHandle::destroyForcibly);
        delete(out);
        delete(err);
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(file + " cannot be deleted", e);
        }
    }
}
