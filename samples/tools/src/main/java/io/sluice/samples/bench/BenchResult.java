package io.sluice.samples.bench;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.sluice.samples.report.ByteSize;
import io.sluice.samples.report.JsonText;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one size. As JSON its fields are in snake case.
 *
 * @param transport name of the transport that the connections used
 * @param op what was measured
 * @param api through what it was started
 * @param size of an element, in bytes
 * @param inflight elements in flight that were asked for, on each connection
 * @param iov elements of a transfer
 * @param connections how many
 * @param buffers which memory the elements used
 * @param regions whose memory that was, on this side
 * @param memory where it was, on this side
 * @param serverMemory the same of the serving side
 * @param path the transport that carried the transfers between the two
 * @param seconds measured time, without that of checks
 * @param transfers transfers that ended in it, with any outcome
 * @param elements elements of those
 * @param bytes of the elements of those that succeeded
 * @param latencyMicros how long transfers took; of those that ended in the calls that started them, one in 7, unless there
 *     was one at a time
 * @param errors transfers that failed, the warm-up's too
 * @param verified whether all that arrived, in the warm-up too, was what was sent; {@code null} without a check
 * @param maxInflightOps most operations seen in flight at once on one connection, the warm-up's too
 * @param maxInflightBytes most bytes seen in flight at once on one connection, the warm-up's too
 * @param clientCpuSeconds processor time of this process in the measured time
 * @param serverCpuSeconds the same of the serving process, {@code null} if it does not tell
 * @param allocatedBytesPerTransfer what all threads of this process have allocated on the heap
 * @param transferThreadsBytesPerTransfer what of that those threads have allocated that carry transfers: the pollers, and the
 *     callers
 * @param memcpyGigabytesPerSecond what {@code memcpy} copies in a second between the same memory, in units of 10<sup>9</sup>
 *     bytes; {@code null} if it was not tried
 * @param differing elements that differ from those sent
 * @param firstError why the first transfer failed that did, or {@code null}
 */
@JsonPropertyOrder({
    "transport",
    "op",
    "api",
    "size",
    "inflight",
    "iov",
    "connections",
    "buffers",
    "regions",
    "memory",
    "server_memory",
    "path",
    "seconds",
    "transfers",
    "elements",
    "bytes",
    "gigabytes_per_second",
    "transfers_per_second"
})
public record BenchResult(
        String transport,
        String op,
        String api,
        long size,
        int inflight,
        int iov,
        int connections,
        String buffers,
        String regions,
        String memory,
        @JsonProperty("server_memory") String serverMemory,
        String path,
        double seconds,
        long transfers,
        long elements,
        long bytes,
        @JsonProperty("latency_us") LatencyMicros latencyMicros,
        long errors,
        @Nullable Boolean verified,
        @JsonProperty("max_inflight_ops_seen") long maxInflightOps,
        @JsonProperty("max_inflight_bytes_seen") long maxInflightBytes,
        @JsonProperty("client_cpu_seconds") double clientCpuSeconds,
        @JsonProperty("server_cpu_seconds") @Nullable Double serverCpuSeconds,
        @JsonProperty("allocated_bytes_per_transfer") double allocatedBytesPerTransfer,
        @JsonProperty("transfer_threads_bytes_per_transfer") double transferThreadsBytesPerTransfer,

        @JsonProperty("memcpy_gigabytes_per_second") @Nullable
        Double memcpyGigabytesPerSecond,

        @JsonIgnore long differing,
        @JsonIgnore @Nullable Throwable firstError) {
    /** Bytes moved in each second, in units of 10<sup>9</sup> bytes; 0 if no time passed. */
    @JsonProperty("gigabytes_per_second")
    public double gigabytesPerSecond() {
        return seconds > 0 ? bytes / seconds / 1e9 : 0;
    }

    /** Transfers that ended in each second; 0 if no time passed. */
    @JsonProperty("transfers_per_second")
    public double transfersPerSecond() {
        return seconds > 0 ? transfers / seconds : 0;
    }

    /** Whether nothing failed, and nothing that was checked was wrong. */
    @JsonIgnore
    public boolean isGood() {
        return errors == 0 && differing == 0;
    }

    public String toJson() {
        return JsonText.of(this);
    }

    /**
     * From the submission, or subscription, of a transfer to its terminal signal, in microseconds. Not all have to be timed.
     *
     * @param p50 the median
     * @param p90 nine of ten are at most this
     * @param p99 99 of 100 are at most this
     * @param p999 999 of 1,000 are at most this
     * @param max the longest
     */
    public record LatencyMicros(double p50, double p90, double p99, double p999, double max) {
        private static final double NANOS = 1e3;

        static LatencyMicros of(Histogram nanos) {
            return new LatencyMicros(
                    nanos.getValueAtPercentile(50) / NANOS,
                    nanos.getValueAtPercentile(90) / NANOS,
                    nanos.getValueAtPercentile(99) / NANOS,
                    nanos.getValueAtPercentile(99.9) / NANOS,
                    nanos.getMaxValue() / NANOS);
        }
    }

    /** Figures as a table for people, a line for each size. */
    public static final class BenchTable {
        private BenchTable() {}

        /** The header: facts common to all lines, and the names of the columns. */
        public static String head(BenchResult result) {
            return String.format(
                    Locale.ROOT,
                    "%s over %s, %s API, %d in flight, %d %s, %s buffers in %s memory%s%s%n%9s %9s %12s %10s %10s %10s"
                            + " %10s %8s %8s %8s %8s%n",
                    result.op(),
                    result.path(),
                    result.api(),
                    result.inflight(),
                    result.connections(),
                    result.connections() == 1 ? "connection" : "connections",
                    result.buffers(),
                    result.regions(),
                    places(result),
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

        private static String places(BenchResult result) {
            return result.memory().equals(result.serverMemory())
                            && result.memory().equals(MemoryPlace.HOST.toString())
                    ? ""
                    : ", " + result.memory() + " to " + result.serverMemory();
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
}
