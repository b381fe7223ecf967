package io.sluice.samples.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.Api;
import io.sluice.samples.bench.Buffers;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Transfers of this engine, as {@code sluice bench} measures them, between processes of their own.
 *
 * @param transfers which
 * @param api through what they are started
 */
record OwnTransfers(Subject transfers, Api api) implements Measurement {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Of less the copy is not the most. */
    private static final long LEAST_COPIED = 64L << 10;

    private static final String COPIED = "memcpy_gigabytes_per_second";

    private static final String ALLOCATED = "transfer_threads_bytes_per_transfer";

    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "sluice " + transfers.description() + ", " + api + " API";
    }

    @Override
    public Figures run(Workbench workbench) throws MeasurementFailedException {
        Map<String, String> environment = new HashMap<>(transfers.idle().environment());
        environment.putAll(transfers.route().environment());
        environment.putAll(transfers.security().environment(workbench.folder()));
        List<String> arguments = arguments(workbench.timing());
        return switch (transfers.metrics()) {
            case OFF -> figures(workbench.runOwn(label(), environment, arguments));
            case SCRAPED -> scraped(workbench, environment, arguments);
        };
    }

    private Figures scraped(Workbench workbench, Map<String, String> environment, List<String> arguments)
            throws MeasurementFailedException {
        int port = Workbench.freePort();
        arguments.addAll(List.of("--metrics-port", Integer.toString(port)));
        try (Scraper scraper = Scraper.start(port)) {
            Figures figures = figures(workbench.runOwn(label(), environment, arguments));
            if (scraper.scrapes() == 0) {
                throw new MeasurementFailedException(label() + ": it was never scraped");
            }
            return figures;
        }
    }

    private List<String> arguments(Timing timing) {
        List<String> arguments = new ArrayList<>(List.of("bench", "--loopback"));
        arguments.addAll(List.of("--transport", transfers.route().transport()));
        arguments.addAll(List.of("--regions", transfers.route().regions().toString()));
        arguments.addAll(List.of("--op", transfers.operation().toString(), "--api", api.toString()));
        arguments.addAll(List.of("--size", Long.toString(transfers.size())));
        if (transfers.operation().isVectored()) {
            arguments.addAll(List.of("--iov", Integer.toString(transfers.iov())));
        }
        arguments.addAll(List.of("--inflight", Integer.toString(transfers.inflight())));
        arguments.addAll(List.of("--buffers", Buffers.SINGLE.toString()));
        if (copiesToo()) {
            arguments.add("--memcpy");
        }
        arguments.addAll(List.of("--duration", timing.duration().toMillis() + "ms"));
        arguments.addAll(List.of("--warmup", timing.warmup().toMillis() + "ms", "--json", "-"));
        return arguments;
    }

    /** Where the copy is what a transfer takes. */
    private boolean copiesToo() {
        return transfers.route() == Route.SHM && transfers.size() >= LEAST_COPIED && transfers.metrics() == Metrics.OFF;
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
        Map<Quantity, Double> values = new EnumMap<>(Quantity.class);
        values.put(
                Quantity.GIGABYTES_PER_SECOND, line.path("gigabytes_per_second").asDouble());
        double transfersPerSecond = line.path("transfers_per_second").asDouble();
        values.put(Quantity.TRANSFERS_PER_SECOND, transfersPerSecond);
        values.put(
                Quantity.ELEMENTS_PER_SECOND,
                transfersPerSecond * line.path("iov").asInt(1));
        values.put(
                Quantity.MEDIAN_MICROSECONDS,
                line.path("latency_us").path("p50").asDouble());
        if (line.has(ALLOCATED)) {
            values.put(Quantity.ALLOCATED_BYTES, line.path(ALLOCATED).asDouble());
        }
        if (line.path(COPIED).isNumber()) {
            values.put(Quantity.MEMCPY_GIGABYTES_PER_SECOND, line.path(COPIED).asDouble());
        }
        return new Figures(values);
    }
}
