package io.sluice.samples.bench;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.HdrHistogram.Histogram;

/**
 * From the submission, or subscription, of a transfer to its terminal signal, in microseconds. Not all have to be timed.
 *
 * @param p50 the median
 * @param p90 nine of ten are at most this
 * @param p99 99 of 100 are at most this
 * @param p999 999 of 1,000 are at most this
 * @param max the longest
 */
public record LatencyMicros(
        @JsonProperty("p50") double p50,
        @JsonProperty("p90") double p90,
        @JsonProperty("p99") double p99,
        @JsonProperty("p999") double p999,
        @JsonProperty("max") double max) {

    private static final double NANOS = 1e3;

    /** Of a histogram of nanoseconds. */
    static LatencyMicros of(Histogram nanos) {
        return new LatencyMicros(
                nanos.getValueAtPercentile(50) / NANOS,
                nanos.getValueAtPercentile(90) / NANOS,
                nanos.getValueAtPercentile(99) / NANOS,
                nanos.getValueAtPercentile(99.9) / NANOS,
                nanos.getMaxValue() / NANOS);
    }
}
