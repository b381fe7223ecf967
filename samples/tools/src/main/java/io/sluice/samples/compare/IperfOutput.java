package io.sluice.samples.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** The JSON that {@code iperf3} prints. */
final class IperfOutput {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double BITS_PER_GIGABYTE = 8e9;

    private IperfOutput() {}

    /** What the receiving side has received; an error, which it may report with status 0, is a failure. */
    static double gigabytesPerSecond(String output) throws MeasurementFailedException {
        JsonNode report;
        try {
            report = JSON.readTree(output);
        } catch (JsonProcessingException e) {
            throw new MeasurementFailedException("what iperf3 prints is no JSON");
        }
        if (report.hasNonNull("error")) {
            throw new MeasurementFailedException(report.path("error").asText());
        }
        JsonNode rate = report.path("end").path("sum_received").path("bits_per_second");
        if (!rate.isNumber()) {
            throw new MeasurementFailedException("what iperf3 prints holds no rate of the receiving side");
        }
        return rate.asDouble() / BITS_PER_GIGABYTE;
    }
}
