package io.sluice.samples.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.HdrHistogram.AbstractHistogram;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a replay. As JSON its fields are in snake case.
 *
 * @param interrupted whether it was broken off; the figures are then those of the requests that had ended
 * @param requests requests that were replayed to their end
 * @param traceLinesSkipped malformed lines of the trace that were left out
 * @param pagesMoved pages transferred, over all layers
 * @param pagesReused pages that the decode process had cached, over all layers
 * @param corruptedPages pages whose checksum was wrong after the transfer
 * @param bytes all bytes that the writes have moved: pages, and the 4 bytes of a seal with each
 * @param pageBytes those of pages
 * @param seconds wall-clock time from the first request to the end of the last
 * @param writeSeconds how long writes were under way while neither side filled or checked pages; {@code null}, and then
 *     left out, if that was done meanwhile
 * @param reconnects how often the connection was lost and made again
 * @param requestsRepeated requests that were under way then and were moved again
 * @param pagesRepeated pages of theirs that had been written until then, with any outcome, over all layers; they are not
 *     among the pages moved
 */
@JsonPropertyOrder({
    "model",
    "transport",
    "interrupted",
    "requests",
    "trace_lines_skipped",
    "pages_moved",
    "pages_reused",
    "cache_hit_rate",
    "corrupted_pages",
    "bytes",
    "page_bytes",
    "seconds",
    "gigabytes_per_second",
    "write_seconds",
    "write_gigabytes_per_second"
})
public record ReplaySummary(
        String model,
        String transport,
        boolean interrupted,
        long requests,
        @JsonProperty("trace_lines_skipped") long traceLinesSkipped,
        @JsonProperty("pages_moved") long pagesMoved,
        @JsonProperty("pages_reused") long pagesReused,
        @JsonProperty("corrupted_pages") long corruptedPages,
        long bytes,
        @JsonProperty("page_bytes") long pageBytes,
        double seconds,

        @JsonProperty("write_seconds") @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
        Double writeSeconds,

        @JsonProperty("transfer_ms") TransferMillis transferMillis,
        @JsonProperty("max_inflight_ops_seen") long maxInflightOps,
        @JsonProperty("max_inflight_bytes_seen") long maxInflightBytes,
        long reconnects,
        @JsonProperty("requests_repeated") long requestsRepeated,
        @JsonProperty("pages_repeated") long pagesRepeated) {
    /** Bytes transferred in each second, in units of 10<sup>9</sup> bytes; 0 if no time passed. */
    @JsonProperty("gigabytes_per_second")
    public double gigabytesPerSecond() {
        return seconds > 0 ? bytes / seconds / 1e9 : 0;
    }

    /**
     * Bytes transferred in each second of {@link #writeSeconds}, in units of 10<sup>9</sup> bytes; {@code null} without
     * that, 0 if no time passed.
     */
    @JsonProperty("write_gigabytes_per_second")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public @Nullable Double writeGigabytesPerSecond() {
        if (writeSeconds == null) {
            return null;
        }
        return writeSeconds > 0 ? bytes / writeSeconds / 1e9 : 0;
    }

    /** The share of pages that did not have to be moved, from 0 to 1; 0 if there were no pages. */
    @JsonProperty("cache_hit_rate")
    public double cacheHitRate() {
        return hitRate(pagesMoved, pagesReused);
    }

    static double hitRate(long pagesMoved, long pagesReused) {
        long pages = pagesMoved + pagesReused;
        return pages == 0 ? 0 : (double) pagesReused / pages;
    }

    public String toJson() {
        return JsonText.of(this);
    }

    /** How long transfers took, in milliseconds; all 0 if there were none. */
    public record TransferMillis(double p50, double p90, double p99, double max) {
        private static final double NANOS_PER_MILLI = 1e6;

        /** The percentiles of recorded durations in nanoseconds. */
        public static TransferMillis of(AbstractHistogram nanos) {
            return new TransferMillis(
                    percentile(nanos, 50),
                    percentile(nanos, 90),
                    percentile(nanos, 99),
                    nanos.getMaxValue() / NANOS_PER_MILLI);
        }

        private static double percentile(AbstractHistogram nanos, double percentile) {
            return nanos.getValueAtPercentile(percentile) / NANOS_PER_MILLI;
        }
    }

    /** A replay's summary as a table for people. */
    public static final class ReplaySummaryTable {
        private ReplaySummaryTable() {}

        public static String render(ReplaySummary summary) {
            SummaryTable table = new SummaryTable()
                    .row("model", summary.model())
                    .row("transport", summary.transport())
                    .row(
                            "requests",
                            SummaryTable.count(summary.requests()) + (summary.interrupted() ? " (interrupted)" : ""));
            if (summary.traceLinesSkipped() > 0) {
                table.row("trace lines skipped", summary.traceLinesSkipped());
            }
            table.row("pages moved", summary.pagesMoved())
                    .row("pages reused", summary.pagesReused())
                    .row("cache hits", "%.1f %%", 100 * summary.cacheHitRate())
                    .row("corrupted pages", summary.corruptedPages())
                    .row("bytes moved", SummaryTable.bytes(summary.bytes()))
                    .row("of them pages", SummaryTable.bytes(summary.pageBytes()))
                    .row("time", "%.3f s", summary.seconds())
                    .row("throughput", "%.3f GB/s", summary.gigabytesPerSecond());
            Double writes = summary.writeGigabytesPerSecond();
            if (writes != null) {
                table.row("writes alone", "%.3f GB/s", writes);
            }
            table.row("transfer p50", "%.3f ms", summary.transferMillis().p50())
                    .row("transfer p90", "%.3f ms", summary.transferMillis().p90())
                    .row("transfer p99", "%.3f ms", summary.transferMillis().p99())
                    .row("transfer max", "%.3f ms", summary.transferMillis().max())
                    .row(
                            "most in flight",
                            SummaryTable.count(summary.maxInflightOps()) + " operations, "
                                    + ByteSize.format(summary.maxInflightBytes()));
            if (summary.reconnects() > 0) {
                table.row("reconnects", summary.reconnects())
                        .row("requests repeated", summary.requestsRepeated())
                        .row("pages repeated", summary.pagesRepeated());
            }
            return table.toString();
        }
    }
}
