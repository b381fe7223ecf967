package io.sluice.samples.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** The line of JSON among what {@code sluice bench --json -} prints; the JVM may print warnings, too. */
final class BenchLine {
    private static final ObjectMapper JSON = new ObjectMapper();

    private BenchLine() {}

    static JsonNode of(String output) throws MeasurementFailedException {
        String line = output.lines()
                .filter(text -> text.startsWith("{"))
                .findFirst()
                .orElseThrow(() -> new MeasurementFailedException("it printed no figures"));
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new MeasurementFailedException("it printed no figures, but " + line);
        }
    }
}
