package io.sluice.samples.dashboard;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * The answer of Prometheus to a range query of a panel.
 *
 * @param legend of the query
 * @param series with their labels and values
 */
public record RangeAnswer(String legend, JsonNode series) {

    /** Whether there is a point that can be drawn. */
    public boolean hasNumbers() {
        for (JsonNode one : series) {
            for (JsonNode value : one.path("values")) {
                if (Double.isFinite(number(value.path(1)))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A value as Prometheus writes it. */
    static double number(JsonNode value) {
        return switch (value.asText()) {
            case "+Inf" -> Double.POSITIVE_INFINITY;
            case "-Inf" -> Double.NEGATIVE_INFINITY;
            default -> Double.parseDouble(value.asText());
        };
    }
}
