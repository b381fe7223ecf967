package io.sluice.samples.compare;

import io.sluice.samples.compare.BenchEnvironment.CommandLog.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where measurements are made: processes on their processors, a folder for what they print, bounded waits. For one thread.
 *
 * @param ownCommand the command line that starts this program once more, with these arguments
 */
public record BenchEnvironment(
        Timing timing,
        Pinning pinning,
        UnaryOperator<List<String>> ownCommand,
        BooleanSupplier interrupted,
        Path folder,
        CommandLog commands)
        implements AutoCloseable {
    private static final long LISTEN_POLL_MILLIS = 5;
    private static final long TARGET_END_MILLIS = 2000;

    /** One with a folder of its own, readable for this user alone, as temporary folders are. */
    public static BenchEnvironment open(
            Timing timing, Pinning pinning, UnaryOperator<List<String>> ownCommand, BooleanSupplier interrupted)
            throws IOException {
        Path folder = Files.createTempDirectory("sluice-compare-");
        return new BenchEnvironment(timing, pinning, ownCommand, interrupted, folder, new CommandLog(folder));
    }

    /** The same with processes on all processors, for those whose libraries have threads of their own. */
    BenchEnvironment unpinned() {
        Pinning none = new Pinning(List.of(), List.of(), List.of(), false);
        return new BenchEnvironment(timing, none, ownCommand, interrupted, folder, commands);
    }

    /** A C program that {@link BaselineBuild} puts there. */
    String program(CProgram program) {
        return folder.resolve(program.fileName()).toString();
    }

    /** Runs a process on the initiator's processors; returns its output. */
    String runAlone(String label, Map<String, String> environment, List<String> command)
            throws MeasurementFailedException {
        return run(label, environment, initiator(label, environment, command));
    }

    private List<String> initiator(String label, Map<String, String> environment, List<String> command) {
        List<String> pinned = Pinning.command(pinning.initiator(), command);
        commands.add(label, Role.INITIATOR, environment, pinned);
        return pinned;
    }

    /** Runs this program, which pins its processes itself; returns its output. */
    String runOwn(String label, Map<String, String> environment, List<String> arguments)
            throws MeasurementFailedException {
        List<String> pinned = Pinning.command(arguments, pinning.ownOptions());
        commands.add(label, Role.INITIATOR, environment, Pinning.command(List.of("./sluice"), pinned));
        return run(label, environment, ownCommand.apply(pinned));
    }

    private String run(String label, Map<String, String> environment, List<String> command)
            throws MeasurementFailedException {
        try (ToolProcess process = start(environment, command)) {
            return await(label, process);
        }
    }

    private String await(String label, ToolProcess process) throws MeasurementFailedException {
        try {
            return process.await(timing.bound(), interrupted);
        } catch (MeasurementFailedException e) {
            throw new MeasurementFailedException(label + ": " + e.getMessage());
        }
    }

    /**
     * Runs two processes that meet at a port; returns the initiator's output.
     *
     * @param target the command line of the process that listens, and ends by itself after the other one
     */
    String runPair(
            String label,
            Map<String, String> environment,
            IntFunction<List<String>> target,
            IntFunction<List<String>> initiator)
            throws MeasurementFailedException {
        return withTarget(label, environment, target, (port, process) -> {
            String output = run(label, environment, initiator(label, environment, initiator.apply(port)));
            awaitEnd(process);
            return output;
        });
    }

    /** The same, and what both have used of their processors. */
    PairOutput runPairWatched(
            String label,
            Map<String, String> environment,
            IntFunction<List<String>> target,
            IntFunction<List<String>> initiator)
            throws MeasurementFailedException {
        return withTarget(label, environment, target, (port, targetProcess) -> {
            List<String> command = initiator(label, environment, initiator.apply(port));
            try (ToolProcess process = start(environment, command);
                    ProcessorWatch watch = ProcessorWatch.of(process, targetProcess)) {
                String output = await(label, process);
                awaitEnd(targetProcess);
                return new PairOutput(output, watch.processorsOf(process), watch.processorsOf(targetProcess));
            }
        });
    }

    /** It is to be off its processor before the next measurement begins. */
    private static void awaitEnd(ToolProcess target) {
        target.endsWithin(TARGET_END_MILLIS);
    }

    /** Does something while a process listens at a port, which is then ended if it has not done so by itself. */
    <T> T withTarget(
            String label, Map<String, String> environment, IntFunction<List<String>> target, TargetWork<T> work)
            throws MeasurementFailedException {
        int port = LoopbackPort.free();
        List<String> command = Pinning.command(pinning.target(), target.apply(port));
        commands.add(label, Role.TARGET, environment, command);
        try (ToolProcess process = start(environment, command)) {
            awaitListening(label, process, port);
            return work.with(port, process);
        }
    }

    interface TargetWork<T> {
        T with(int port, ToolProcess target) throws MeasurementFailedException;
    }

    List<String> own(List<String> arguments) {
        return ownCommand.apply(arguments);
    }

    private void awaitListening(String label, ToolProcess target, int port) throws MeasurementFailedException {
        long deadline = System.nanoTime() + timing.bound().toNanos();
        while (!LoopbackPort.isListening(port)) {
            if (interrupted.getAsBoolean()) {
                throw new BrokenOffException();
            }
            if (target.endsWithin(LISTEN_POLL_MILLIS)) {
                throw new MeasurementFailedException(
                        label + ": the target ended before it listened: " + target.lastWords());
            }
            if (System.nanoTime() - deadline > 0) {
                throw new MeasurementFailedException(label + ": the target did not listen within "
                        + timing.bound().toSeconds() + " s");
            }
        }
    }

    private ToolProcess start(Map<String, String> environment, List<String> command) {
        return ToolProcess.start(folder, environment, timing.bound(), command);
    }

    @Override
    public void close() throws IOException {
        delete(folder);
    }

    /** Deletes a folder with what is in it. */
    public static void delete(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(folder)) {
            all.forEach(files::addFirst);
        }
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }

    /**
     * The output of two processes that met, and the processors they used.
     *
     * @param initiatorProcessors how many processors the initiator kept busy; {@code null} if it was too short to tell
     */
    record PairOutput(
            String output,
            @Nullable Double initiatorProcessors,
            @Nullable Double targetProcessors) {}

    /** The command lines that a measurement has started last, as a user would type them. */
    public static final class CommandLog {
        enum Role {
            TARGET,
            INITIATOR
        }

        private final Map<String, Map<Role, String>> lines = new HashMap<>();
        private final String folder;

        CommandLog(Path folder) {
            this.folder = folder + "/";
        }

        /** Takes note of a process that a measurement of a label has started. */
        void add(String label, Role role, Map<String, String> environment, List<String> command) {
            lines.computeIfAbsent(label, any -> new EnumMap<>(Role.class)).put(role, line(environment, command));
        }

        private String line(Map<String, String> environment, List<String> command) {
            List<String> words = new ArrayList<>();
            new TreeMap<>(environment).forEach((name, value) -> words.add(name + "=" + word(value)));
            command.forEach(word -> words.add(word(word)));
            return String.join(" ", words);
        }

        private String word(String text) {
            String classPath = System.getProperty("java.class.path");
            String shown = text.equals(classPath) ? "$CLASS_PATH" : text.replace(folder, "");
            return shown.contains(" ") ? "'" + shown + "'" : shown;
        }

        /** Those of a label, the target's first; none if it has started nothing. */
        List<String> of(String label) {
            return List.copyOf(lines.getOrDefault(label, Map.of()).values());
        }
    }
}
