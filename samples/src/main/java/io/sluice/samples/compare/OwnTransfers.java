package io.sluice.samples.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.Buffers;
import io.sluice.samples.bench.Operation;
import io.sluice.samples.report.ByteSize;
import java.util.List;
import java.util.Map;

/**
 * Transfers of this engine, as {@code sluice bench} measures them, between processes of their own.
 *
 * @param operation what a transfer does
 * @param api through what it is started
 * @param size in bytes
 * @param inflight transfers in flight
 * @param idle what the pollers do while there is nothing to do
 */
record OwnTransfers(Operation operation, Api api, long size, int inflight, IdlePollers idle) implements Measurement {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "sluice " + operation + " of " + ByteSize.format(size) + ", " + inflight + " in flight, " + api + " API";
    }

    @Override
    public Figures run(Workbench workbench) throws MeasurementFailedException {
        Timing timing = workbench.timing();
        List<String> arguments = List.of(
                "bench",
                "--loopback",
                "--op",
                operation.toString(),
                "--api",
                api.toString(),
                "--size",
                Long.toString(size),
                "--inflight",
                Integer.toString(inflight),
                "--buffers",
                Buffers.SINGLE.toString(),
                "--duration",
                timing.duration().toMillis() + "ms",
                "--warmup",
                timing.warmup().toMillis() + "ms",
                "--json",
                "-");
        return figures(workbench.runOwn(label(), idle.environment(), arguments));
    }

    /** Of the line of JSON that the program prints, beside which the JVM may print warnings. */
    static Figures figures(String output) throws MeasurementFailedException {
        JsonNode line;
        try {
            line = JSON.readTree(output.lines()
                    .filter(text -> text.startsWith("{"))
                    .findFirst()
                    .orElse(""));
        } catch (JsonProcessingException e) {
            throw new MeasurementFailedException("it has told no figures");
        }
        if (line.path("errors").asLong(-1) != 0) {
            throw new MeasurementFailedException("transfers that failed: " + line.path("errors"));
        }
        return new Figures(Map.of(
                Quantity.GIGABYTES_PER_SECOND, line.path("gigabytes_per_second").asDouble(),
                Quantity.TRANSFERS_PER_SECOND, line.path("transfers_per_second").asDouble(),
                Quantity.MEDIAN_MICROSECONDS,
                        line.path("latency_us").path("p50").asDouble()));
    }
}
