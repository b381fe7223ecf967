package io.sluice.samples.compare;

import io.sluice.samples.bench.Api;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Starts of a program, one after the other, each until it has ended by itself. */
record ProgramStart(Task task, boolean cached) implements Workload, Measurement {
    private static final int FEWEST = 3;
    private static final Map<String, String> OVER_TCP = Map.of("SLUICE_TRANSPORTS", "tcp");

    /** The task of the program. */
    enum Task {
        HELLO("a bare JVM's hello"),
        INFO("sluice info"),
        /** An engine, a connection, a write of 8 bytes through Reactor, and the end of all that. */
        FIRST_TRANSFER("a program's first write over tcp");

        private final String description;

        Task(String description) {
            this.description = description;
        }

        String description() {
            return description;
        }
    }

    @Override
    public String name() {
        return (cached ? "aot-" : "") + task.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Sockets for a transfer; a start without one needs no route, and any may be taken. */
    @Override
    public Route route() {
        return Route.TCP;
    }

    @Override
    public @Nullable String unavailable() {
        return cached ? StartCommand.cacheUnavailable() : null;
    }

    @Override
    public String transport() {
        return task == Task.FIRST_TRANSFER ? route().transport() : "none";
    }

    @Override
    public String doing() {
        return "start";
    }

    @Override
    public long size() {
        return 0;
    }

    @Override
    public int inflight() {
        return 0;
    }

    @Override
    public Measurement measurement(Api api) {
        return this;
    }

    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "start of " + task.description() + (cached ? ", with an AOT cache" : "");
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        if (task != Task.FIRST_TRANSFER) {
            return starts(environment, 0);
        }
        return environment.withTarget(
                label(),
                OVER_TCP,
                port -> environment.own(List.of("serve", "--listen", "127.0.0.1:" + port, "--memory", "1MiB")),
                (port, server) -> starts(environment, port));
    }

    private Figures starts(BenchEnvironment environment, int port) throws MeasurementFailedException {
        List<String> command = StartCommand.of(task, cached, port, environment);
        // Afterwards the files are in the system's page cache.
        environment.runAlone(label(), OVER_TCP, command);
        Series lifetimes = new Series();
        long began = System.nanoTime();
        for (int count = 0;
                count < FEWEST
                        || System.nanoTime() - began
                                < environment.timing().duration().toNanos();
                count++) {
            long start = System.nanoTime();
            environment.runAlone(label(), OVER_TCP, command);
            lifetimes.add(Figures.of(Quantity.LIFETIME_MILLISECONDS, (System.nanoTime() - start) / 1e6));
        }
        Double median = Series.median(lifetimes.values(Quantity.LIFETIME_MILLISECONDS));
        if (median == null) {
            throw new MeasurementFailedException("nothing was started");
        }
        return Figures.of(Quantity.LIFETIME_MILLISECONDS, median);
    }
}
