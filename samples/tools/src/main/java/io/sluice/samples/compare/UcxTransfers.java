package io.sluice.samples.compare;

import io.sluice.samples.bench.BenchOperation;
import io.sluice.samples.report.ByteSize;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One-sided puts or gets of UCX, as {@code ucx_perftest} measures them. It uses one buffer, and counts a put when its
 * source may be reused.
 *
 * @param operation a write for {@code ucp_put_bw}, a read for {@code ucp_get}
 */
record UcxTransfers(BenchOperation operation, long size, int inflight, Transports transports) implements Measurement {
    /** Of UCX, among which it chooses by itself. */
    enum Transports {
        /** tcp on the loopback interface. */
        TCP(Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo")),
        /** The same with segments that suit large transfers, reads above all. */
        TCP_TUNED(Map.of(
                "UCX_TLS",
                "tcp",
                "UCX_NET_DEVICES",
                "lo",
                "UCX_TCP_TX_SEG_SIZE",
                "64k",
                "UCX_TCP_RX_SEG_SIZE",
                "256k")),
        /** Those between processes on one machine: shared mappings and cross-memory attach. */
        SHARED_MEMORY(Map.of("UCX_TLS", "posix,sysv,cma"));

        private final Map<String, String> environment;

        Transports(Map<String, String> environment) {
            this.environment = environment;
        }

        Map<String, String> environment() {
            return environment;
        }

        /**
         * As many as ours has in flight. But of large puts over tcp UCX sends more at once than the loopback interface takes, and
         * then waits long for what was dropped: it is several times as fast with less outstanding.
         */
        int outstanding(Transfers ours) {
            boolean stalls = this != SHARED_MEMORY && !ours.operation().isRead();
            return stalls ? Math.clamp(MOST_PUT_BYTES / Math.max(1, ours.size()), 1, ours.inflight()) : ours.inflight();
        }
    }

    private static final long MOST_PUT_BYTES = 1 << 20;

    /** The same transfers as ours; of what is vectored each element is a transfer of its own. */
    static UcxTransfers like(Transfers ours, Transports transports) {
        return new UcxTransfers(ours.elementOperation(), ours.size(), transports.outstanding(ours), transports);
    }

    /** It takes a number of transfers, not a time: a short run tells how many there are in a second. */
    private static final long PROBE_BYTES = 256L << 20;

    private static final long FEWEST_PROBES = 16;
    private static final long MOST_PROBES = 20_000;

    @Override
    public Program program() {
        return Program.UCX;
    }

    @Override
    public String label() {
        return "ucx_perftest " + test() + " of " + ByteSize.format(size) + " over "
                + transports.environment.get("UCX_TLS")
                + (transports == Transports.TCP_TUNED ? " with tuned segments" : "")
                + ", " + inflight + " outstanding";
    }

    private String test() {
        return operation.isRead() ? "ucp_get" : "ucp_put_bw";
    }

    @Override
    public Figures run(BenchEnvironment workbench) throws MeasurementFailedException {
        long probes = Math.clamp(PROBE_BYTES / size, FEWEST_PROBES, MOST_PROBES);
        double rate = Output.of(measure(workbench, probes, 1).output()).transfersPerSecond(size);
        if (rate <= 0) {
            throw new MeasurementFailedException("a trial run printed no rate");
        }
        Timing timing = workbench.timing();
        BenchEnvironment.PairOutput watched =
                measure(workbench, count(rate, timing.duration()), count(rate, timing.warmup()));
        Output output = Output.of(watched.output());
        Map<Quantity, Double> values = new EnumMap<>(Quantity.class);
        values.put(Quantity.TRANSFERS_PER_SECOND, output.messagesPerSecond());
        values.put(Quantity.GIGABYTES_PER_SECOND, output.gigabytesPerSecond());
        cost(values, Quantity.INITIATOR_SECONDS_PER_GIGABYTE, watched.initiatorProcessors(), output);
        cost(values, Quantity.TARGET_SECONDS_PER_GIGABYTE, watched.targetProcessors(), output);
        return new Figures(values);
    }

    private static void cost(
            Map<Quantity, Double> values, Quantity quantity, @Nullable Double processors, Output output) {
        if (processors != null && processors > 0 && output.gigabytesPerSecond() > 0) {
            values.put(quantity, processors / output.gigabytesPerSecond());
        }
    }

    private static long count(double rate, Duration time) {
        return Math.max(1, Math.round(rate * time.toNanos() / 1e9));
    }

    private BenchEnvironment.PairOutput measure(BenchEnvironment workbench, long transfers, long warmup)
            throws MeasurementFailedException {
        String executable = program().executable();
        return workbench.runPairWatched(
                label(),
                transports.environment,
                port -> List.of(executable, "-p", Integer.toString(port)),
                port -> command(executable, port, transfers, warmup));
    }

    private List<String> command(String executable, int port, long transfers, long warmup) {
        List<String> command = new ArrayList<>(List.of(executable, "127.0.0.1", "-p", Integer.toString(port)));
        command.addAll(List.of("-t", test(), "-s", Long.toString(size), "-O", Integer.toString(inflight)));
        // The final figures alone, as comma-separated values under their names.
        command.addAll(List.of("-n", Long.toString(transfers), "-w", Long.toString(warmup), "-f", "-v"));
        return command;
    }

    /**
     * The overall figures of a run of {@code ucx_perftest}.
     *
     * @param mebibytesPerSecond what it calls MB/s
     * @param messagesPerSecond a whole number, so of little use for large messages
     */
    record Output(double mebibytesPerSecond, double messagesPerSecond) {
        private static final String BANDWIDTH = "overall_bw";
        private static final String RATE = "overall_mr";
        private static final double MEBI = 1 << 20;

        /** Of comma-separated values: a line of names and, last, a line of figures. */
        static Output of(String output) throws MeasurementFailedException {
            List<List<String>> lines = output.lines()
                    .map(line -> List.of(line.split(",", -1)))
                    .map(fields -> fields.stream().map(String::strip).toList())
                    .toList();
            List<String> names = lines.stream()
                    .filter(fields -> fields.contains(BANDWIDTH) && fields.contains(RATE))
                    .findFirst()
                    .orElseThrow(Output::unknown);
            List<String> figures = lines.getLast();
            if (figures.size() != names.size()) {
                throw unknown();
            }
            try {
                return new Output(
                        Double.parseDouble(figures.get(names.indexOf(BANDWIDTH))),
                        Double.parseDouble(figures.get(names.indexOf(RATE))));
            } catch (NumberFormatException e) {
                throw unknown();
            }
        }

        private static MeasurementFailedException unknown() {
            return new MeasurementFailedException("what ucx_perftest prints holds no figures that are known");
        }

        double gigabytesPerSecond() {
            return mebibytesPerSecond * MEBI / 1e9;
        }

        /** From the bytes, of which more digits are told. */
        double transfersPerSecond(long size) {
            return mebibytesPerSecond * MEBI / size;
        }
    }
}
