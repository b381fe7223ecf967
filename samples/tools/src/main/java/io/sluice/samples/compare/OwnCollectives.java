package io.sluice.samples.compare;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Collectives of this engine, as {@code sluice bench} measures them, with every element checked. */
record OwnCollectives(Collectives collectives) implements Measurement {
    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "sluice " + collectives.description()
                + (collectives.persistent() ? ", persistent" : ", called each time");
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        String line = "bench --collective " + collectives.collective()
                + " --ranks " + collectives.ranks()
                + (collectives.size() > 0 ? " --size " + collectives.size() : "")
                + " " + collectives.route().options()
                + (collectives.persistent() ? " --persistent" : "")
                + " --verify --cpu " + environment.pinning().processorList()
                + " --duration " + environment.timing().duration().toMillis() + "ms --warmup "
                + environment.timing().warmup().toMillis() + "ms --json -";
        List<String> arguments = new ArrayList<>(List.of(line.split(" ")));
        // Each rank has a processor of its own, or its part of one.
        return figures(environment.unpinned().runOwn(label(), Map.of(), arguments));
    }

    static Figures figures(String output) throws MeasurementFailedException {
        JsonNode line = BenchLine.of(output);
        if (line.path("errors").asLong(-1) != 0 || !line.path("verified").asBoolean()) {
            throw new MeasurementFailedException(
                    "operations that failed: " + line.path("errors") + "; verified: " + line.path("verified"));
        }
        return figures(
                line.path("operations").asDouble() / line.path("seconds").asDouble(),
                line.path("latency_us").path("p50").asDouble(),
                line.path("bus_gigabytes_per_second").asDouble());
    }

    static Figures figures(double operationsPerSecond, double medianMicros, double busGigabytesPerSecond) {
        Figures figures = Figures.of(Quantity.OPERATIONS_PER_SECOND, operationsPerSecond)
                .with(Quantity.MEDIAN_MICROSECONDS, medianMicros);
        return busGigabytesPerSecond > 0
                ? figures.with(Quantity.BUS_GIGABYTES_PER_SECOND, busGigabytesPerSecond)
                : figures;
    }
}
