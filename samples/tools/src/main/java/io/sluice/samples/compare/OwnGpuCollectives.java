package io.sluice.samples.compare;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** Collectives of this engine on GPUs, as {@code sluice bench} measures them, with every element checked. */
record OwnGpuCollectives(GpuCollectives collectives) implements Measurement {
    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "sluice " + collectives.description();
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        String line = "bench --collective " + collectives.collective()
                + " --memory cuda --ranks " + GpuCollectives.RANKS
                + " --size " + collectives.size()
                + (collectives.graph() > 0 ? " --graph " + collectives.graph() : "")
                + " --verify --duration " + environment.timing().duration().toMillis() + "ms --warmup "
                + environment.timing().warmup().toMillis() + "ms --json -";
        return figures(
                environment.unpinned().runOwn(label(), collectives.route().environment(), List.of(line.split(" "))));
    }

    Figures figures(String output) throws MeasurementFailedException {
        JsonNode line = BenchLine.of(output);
        if (line.path("errors").asLong(-1) != 0 || !line.path("verified").asBoolean()) {
            throw new MeasurementFailedException(
                    "operations that failed: " + line.path("errors") + "; verified: " + line.path("verified"));
        }
        return collectives.figures(
                line.path("device_us").asDouble(),
                line.path("latency_us").path("p50").asDouble());
    }
}
