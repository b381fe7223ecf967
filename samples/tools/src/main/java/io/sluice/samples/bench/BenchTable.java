package io.sluice.samples.bench;

import io.sluice.samples.report.ByteSize;
import java.util.Locale;

/** Figures as a table for people, a line for each size. */
public final class BenchTable {

    private BenchTable() {}

    /** What all lines have in common, and what their columns are. */
    public static String head(BenchResult result) {
        return String.format(
                Locale.ROOT,
                "%s over %s, %s API, %d in flight, %d %s, %s buffers in %s memory%s%n%9s %9s %12s %10s %10s %10s %10s %8s %8s %8s %8s"
                        + "%n",
                result.op(),
                result.transport(),
                result.api(),
                result.inflight(),
                result.connections(),
                result.connections() == 1 ? "connection" : "connections",
                result.buffers(),
                result.regions(),
                result.iov() > 1 ? ", " + result.iov() + " elements a transfer" : "",
                "size",
                "GB/s",
                "transfers/s",
                "p50 us",
                "p99 us",
                "p99.9 us",
                "max us",
                "client %",
                "server %",
                "heap B",
                "verified");
    }

    /** The line of a size; the processor times are in percent of one processor, heap is what a transfer allocates. */
    public static String line(BenchResult result) {
        BenchResult.LatencyMicros latency = result.latencyMicros();
        Double server = result.serverCpuSeconds();
        return String.format(
                Locale.ROOT,
                "%9s %9.3f %,12.0f %10.2f %10.2f %10.2f %10.2f %8.0f %8s %8.1f %8s%s%s%n",
                ByteSize.format(result.size()),
                result.gigabytesPerSecond(),
                result.transfersPerSecond(),
                latency.p50(),
                latency.p99(),
                latency.p999(),
                latency.max(),
                percent(result.clientCpuSeconds(), result),
                server == null ? "-" : String.format(Locale.ROOT, "%.0f", percent(server, result)),
                result.allocatedBytesPerTransfer(),
                verified(result),
                copied(result),
                result.errors() == 0 ? "" : "  " + result.errors() + " failed");
    }

    private static String copied(BenchResult result) {
        Double copied = result.memcpyGigabytesPerSecond();
        return copied == null ? "" : String.format(Locale.ROOT, "  memcpy %.3f GB/s", copied);
    }

    private static double percent(double cpuSeconds, BenchResult result) {
        return result.seconds() > 0 ? 100 * cpuSeconds / result.seconds() : 0;
    }

    private static String verified(BenchResult result) {
        Boolean verified = result.verified();
        if (verified == null) {
            return "-";
        }
        return verified ? "yes" : "NO";
    }
}
