package io.sluice.samples.compare;

import io.sluice.samples.bench.Operation;
import io.sluice.samples.report.ByteSize;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One-sided puts or gets of UCX, as {@code ucx_perftest} measures them. It uses one buffer, and counts a put when its
 * source may be reused.
 *
 * @param operation a write for {@code ucp_put_bw}, a read for {@code ucp_get}
 * @param size in bytes
 * @param inflight outstanding at most
 * @param transports what it may use
 */
record UcxTransfers(Operation operation, long size, int inflight, Transports transports) implements Measurement {

    /** Of UCX, among which it chooses by itself. */
    enum Transports {
        /** tcp on the loopback interface. */
        TCP(Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo")),
        /** Those between processes on one machine: shared mappings and cross-memory attach. */
        SHARED_MEMORY(Map.of("UCX_TLS", "posix,sysv,cma"));

        private final Map<String, String> environment;

        Transports(Map<String, String> environment) {
            this.environment = environment;
        }
    }

    /** It takes a number of transfers, not a time: a short run tells how many there are in a second. */
    private static final long PROBE_BYTES = 64L << 20;

    private static final long FEWEST_PROBES = 8;
    private static final long MOST_PROBES = 20_000;
    private static final double NANOS_PER_SECOND = 1e9;

    @Override
    public Program program() {
        return Program.UCX;
    }

    @Override
    public String label() {
        return "ucx_perftest " + test() + " of " + ByteSize.format(size) + " over "
                + transports.environment.get("UCX_TLS") + ", " + inflight + " outstanding";
    }

    private String test() {
        return operation.isRead() ? "ucp_get" : "ucp_put_bw";
    }

    @Override
    public Figures run(Workbench workbench) throws MeasurementFailedException {
        long probes = Math.clamp(PROBE_BYTES / size, FEWEST_PROBES, MOST_PROBES);
        double rate = measure(workbench, probes, 1).transfersPerSecond(size);
        if (rate <= 0) {
            throw new MeasurementFailedException("a trial run has told no rate");
        }
        Timing timing = workbench.timing();
        UcxOutput output = measure(workbench, count(rate, timing.duration()), count(rate, timing.warmup()));
        return new Figures(Map.of(
                Quantity.TRANSFERS_PER_SECOND,
                output.messagesPerSecond(),
                Quantity.GIGABYTES_PER_SECOND,
                output.gigabytesPerSecond()));
    }

    private static long count(double rate, Duration time) {
        return Math.max(1, Math.round(rate * time.toNanos() / NANOS_PER_SECOND));
    }

    private UcxOutput measure(Workbench workbench, long transfers, long warmup) throws MeasurementFailedException {
        String executable = program().executable();
        return UcxOutput.of(workbench.runPair(
                label(),
                transports.environment,
                port -> List.of(executable, "-p", Integer.toString(port)),
                port -> command(executable, port, transfers, warmup)));
    }

    private List<String> command(String executable, int port, long transfers, long warmup) {
        List<String> command = new ArrayList<>(List.of(executable, "127.0.0.1", "-p", Integer.toString(port)));
        command.addAll(List.of("-t", test(), "-s", Long.toString(size), "-O", Integer.toString(inflight)));
        // The final figures alone, as comma-separated values under their names.
        command.addAll(List.of("-n", Long.toString(transfers), "-w", Long.toString(warmup), "-f", "-v"));
        return command;
    }
}
