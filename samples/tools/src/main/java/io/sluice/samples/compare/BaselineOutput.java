package io.sluice.samples.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * The line that the C program prints.
 *
 * @param nanos measured time
 * @param operations that ended in it
 * @param medianNanos the median of a ping-pong's round trips, 0 for all else
 * @param p99Nanos what 99 of 100 of them took at most, 0 for all else
 */
record BaselineOutput(long nanos, long operations, long medianNanos, long p99Nanos) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MICRO = 1e3;

    static BaselineOutput of(String output) throws MeasurementFailedException {
        try {
            JsonNode line = JSON.readTree(output);
            return new BaselineOutput(
                    line.path("nanos").asLong(),
                    line.path("operations").asLong(),
                    line.path("median_nanos").asLong(),
                    line.path("p99_nanos").asLong());
        } catch (JsonProcessingException e) {
            throw new MeasurementFailedException("it has told no figures");
        }
    }

    /** The same line, for a Java program that measures in the same way. */
    static String toJson(long nanos, long operations) {
        return JSON.createObjectNode()
                .put("nanos", nanos)
                .put("operations", operations)
                .toString();
    }

    double operationsPerSecond() {
        return nanos > 0 ? operations * NANOS_PER_SECOND / nanos : 0;
    }

    double medianMicros() {
        return medianNanos / NANOS_PER_MICRO;
    }

    /** What 99 of 100 round trips took at most, by what half of them took at most. */
    double tail() {
        return medianNanos > 0 ? (double) p99Nanos / medianNanos : 0;
    }
}
