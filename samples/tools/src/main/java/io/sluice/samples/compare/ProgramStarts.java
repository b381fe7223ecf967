package io.sluice.samples.compare;

import java.util.List;
import java.util.Map;

/**
 * Starts of a program, one after the other, each until it has ended by itself.
 *
 * @param task what it does
 * @param cached whether it starts with an AOT cache
 */
record ProgramStarts(StartTask task, boolean cached) implements Measurement {

    private static final int FEWEST = 3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final Map<String, String> OVER_TCP = Map.of("SLUICE_TRANSPORTS", "tcp");
    private static final int NO_PORT = 0;

    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "start of " + task.description() + (cached ? ", with an AOT cache" : "");
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        if (task != StartTask.FIRST_TRANSFER) {
            return starts(workbench, NO_PORT);
        }
        return workbench.besideTarget(
                label(),
                OVER_TCP,
                port -> workbench.own(List.of("serve", "--listen", "127.0.0.1:" + port, "--memory", "1MiB")),
                (port, server) -> starts(workbench, port));
    }

    private Figures starts(BenchEnvironment workbench, int port) throws MeasurementFailedException {
        List<String> command = StartCommand.of(task, cached, port, workbench);
        // What the system has to read is then in its memory.
        workbench.runAlone(label(), OVER_TCP, command);
        Series lifetimes = new Series();
        long began = System.nanoTime();
        int count = 0;
        while (count < FEWEST
                || System.nanoTime() - began < workbench.timing().duration().toNanos()) {
            long start = System.nanoTime();
            workbench.runAlone(label(), OVER_TCP, command);
            lifetimes.add(Figures.of(Quantity.LIFETIME_MILLISECONDS, (System.nanoTime() - start) / NANOS_PER_MILLI));
            count++;
        }
        Double median = Series.median(lifetimes.values(Quantity.LIFETIME_MILLISECONDS));
        if (median == null) {
            throw new MeasurementFailedException("nothing was started");
        }
        return Figures.of(Quantity.LIFETIME_MILLISECONDS, median);
    }
}
