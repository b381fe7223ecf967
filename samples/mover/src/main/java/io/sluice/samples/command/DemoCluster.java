package io.sluice.samples.command;

import io.sluice.samples.cluster.MoverHttpClient;
import io.sluice.samples.command.MoverCommand.MoverReady;
import io.sluice.samples.compare.BenchEnvironment;
import io.sluice.samples.compare.LoopbackPort;
import io.sluice.samples.mover.peer.MoverRole;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The movers of a demonstration: processes on this machine, members of one cluster on loopback. Used by one thread. */
final class DemoCluster implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DemoCluster.class);

    private final Map<String, MoverProcess> movers = new LinkedHashMap<>();
    private final Map<String, Integer> ports = new LinkedHashMap<>();
    private final Path folder;
    private final List<String> options;
    private final Termination termination;

    DemoCluster(List<String> options, Termination termination) throws IOException {
        this.folder = Files.createTempDirectory("sluice-cluster-");
        this.options = options;
        this.termination = termination;
    }

    /**
     * Starts a mover, and does not wait for it. One of the same name must have ended.
     *
     * @param name its name among those of its role
     */
    void start(MoverRole role, String name, long poolBytes) throws IOException {
        String fullName = role.prefix() + name;
        // Another port than before, which the kernel may hold for a while.
        ports.put(fullName, freePort());
        String members = ports.values().stream().map(DemoCluster::address).collect(Collectors.joining(","));
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(List.of("--role", role.text(), "--name", name, "--http-port", "0"));
        arguments.addAll(List.of("--pool", Long.toString(poolBytes), "--memory", Long.toString(2 * poolBytes)));
        arguments.addAll(List.of("--cluster", address(ports.get(fullName)), "--cluster-members", members));
        // Of this run alone, and not of another one on the same machine.
        arguments.addAll(List.of("--cluster-name", String.valueOf(folder.getFileName())));
        movers.put(fullName, MoverProcess.start(fullName, folder, arguments));
    }

    private static String address(int port) {
        return "127.0.0.1:" + port;
    }

    /**
     * Waits until a mover can be used.
     *
     * @return a client of it, to be closed by the caller
     * @throws CommandFailure if it does not come up
     */
    MoverHttpClient awaitReady(String fullName) throws IOException {
        return new MoverHttpClient(process(fullName).awaitReady(termination).url(fullName));
    }

    void kill(String fullName) {
        process(fullName).process().kill();
    }

    /**
     * Fails if a mover has ended unexpectedly.
     *
     * @param killed the one that was to end; empty for none
     */
    void requireAlive(String killed) {
        movers.forEach((name, process) -> {
            if (!name.equals(killed) && process.process().hasEnded(0)) {
                throw CommandFailure.failed(name + " has ended; the last that it has said stands above");
            }
        });
    }

    void tellLastWords(PrintWriter err) {
        movers.forEach((name, process) -> {
            List<String> lines = process.lastWords();
            if (!lines.isEmpty()) {
                err.println("---- " + name);
                lines.forEach(err::println);
            }
        });
        err.println("----");
        err.flush();
    }

    private MoverProcess process(String fullName) {
        MoverProcess process = movers.get(fullName);
        if (process == null) {
            throw new IllegalArgumentException("no mover " + fullName + " was started");
        }
        return process;
    }

    @Override
    public void close() {
        try {
            movers.values().forEach(mover -> mover.process().askToEnd());
            movers.values().forEach(mover -> mover.process().close());
        } finally {
            deleteFolder();
        }
    }

    private void deleteFolder() {
        try {
            BenchEnvironment.delete(folder);
        } catch (IOException | UncheckedIOException e) {
            LOG.warn("{} cannot be removed", folder, e);
        }
    }

    /** A free port, and none of those that movers have been told. */
    private int freePort() {
        int port;
        do {
            port = LoopbackPort.free();
        } while (ports.containsValue(port));
        return port;
    }

    /** A mover in a process of its own on this machine, with all that it says in a file. It never outlives this process. */
    record MoverProcess(OwnedProcess process, Path ready, Path log) {
        private static final int LAST_LINES = 40;

        /** It closes its engine, tells the directory and leaves the cluster, perhaps all movers of a machine at once. */
        private static final Duration END = Duration.ofSeconds(15);

        /**
         * Starts one, and does not wait for it.
         *
         * @param name what it is called in messages
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

        MoverReady awaitReady(Termination termination) throws IOException {
            process.awaitReady(ready, "the last that it has said stands above", termination);
            return MoverReady.read(ready);
        }

        List<String> lastWords() {
            try (Stream<String> lines = Files.lines(log)) {
                List<String> all = lines.toList();
                return all.subList(Math.max(0, all.size() - LAST_LINES), all.size());
            } catch (IOException | UncheckedIOException e) {
                return List.of("its log cannot be read: " + e.getMessage());
            }
        }
    }
}
