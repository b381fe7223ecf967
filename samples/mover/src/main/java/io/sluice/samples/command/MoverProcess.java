package io.sluice.samples.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A mover in a process of its own on this machine, with all that it says in a file. It never outlives this process. */
record MoverProcess(OwnedProcess process, Path ready, Path log) implements AutoCloseable {
    private static final int LAST_LINES = 40;

    /** It closes its engine, tells the directory and leaves the cluster, perhaps all movers of a machine at once. */
    private static final Duration END = Duration.ofSeconds(15);

    /**
     * Starts one, and does not wait for it.
     *
     * @param name what it is called in messages
     * @param folder for its files
     * @param options of the mover command
     */
    static MoverProcess start(String name, Path folder, List<String> options) throws IOException {
        Path own = Files.createTempDirectory(folder, "mover");
        Path ready = own.resolve("ready.json");
        Path log = own.resolve("log.txt");
        List<String> arguments = new ArrayList<>(List.of("mover"));
        arguments.addAll(options);
        arguments.addAll(List.of("--ready-file", ready.toString(), "--until-input-ends"));
        List<String> java = List.of(
                // Hazelcast's Unsafe makes newer JDKs warn.
                "--sun-misc-unsafe-memory-access=allow",
                // One that is killed leaves it behind.
                "-Dvertx.cacheDirBase=" + own.resolve("vertx"));
        ProcessBuilder builder = new ProcessBuilder(JavaCommand.of(java, arguments))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        // These are about peers on other machines.
        builder.environment().keySet().removeAll(List.of("SLUICE_LISTEN", "SLUICE_ADVERTISE"));
        return new MoverProcess(new OwnedProcess(name, builder.start(), END), ready, log);
    }

    /**
     * Waits until it can be used.
     *
     * @return where it is
     * @throws CommandFailure if it does not come up
     */
    MoverReady awaitReady(Termination termination) throws IOException {
        process.awaitReady(ready, "the last that it has said stands above", termination);
        return MoverReady.read(ready);
    }

    boolean hasEnded() {
        return process.hasEnded(0);
    }

    /** Kills it (SIGKILL), and waits until it is gone. */
    void kill() {
        process.kill();
    }

    /** The last lines that it has said. */
    List<String> lastWords() {
        try (Stream<String> lines = Files.lines(log)) {
            List<String> all = lines.toList();
            return all.subList(Math.max(0, all.size() - LAST_LINES), all.size());
        } catch (IOException | UncheckedIOException e) {
            return List.of("what it has said cannot be read: " + e.getMessage());
        }
    }

    /** Lets it end by itself, and does not wait for that. */
    void askToEnd() {
        process.askToEnd();
    }

    @Override
    public void close() {
        process.close();
    }
}
