package io.sluice.samples.compare;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/** Dispatch and combine of this engine, as {@code sluice bench} measures them, with results checked. */
record OwnExperts(Experts experts) implements Measurement {
    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        return "sluice " + experts.description();
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        String line = "bench --experts " + experts.mode()
                + " --ranks " + experts.ranks()
                + " --tokens " + experts.tokens()
                + " --hidden " + Experts.HIDDEN
                + " --top-k " + Experts.TOP_K
                + " --experts-total " + Experts.TOTAL
                + (experts.fp8() ? " --fp8 " : " ") + experts.route().options()
                + " --verify --cpu " + environment.pinning().processorList()
                + " --duration " + environment.timing().duration().toMillis() + "ms --warmup "
                + environment.timing().warmup().toMillis() + "ms --json -";
        // Each rank has a processor of its own, or its part of one.
        return figures(environment.unpinned().runOwn(label(), Map.of(), List.of(line.split(" "))));
    }

    static Figures figures(String output) throws MeasurementFailedException {
        JsonNode line = BenchLine.of(output);
        if (line.path("errors").asLong(-1) != 0 || !line.path("verified").asBoolean()) {
            throw new MeasurementFailedException(
                    "rounds that failed: " + line.path("errors") + "; verified: " + line.path("verified"));
        }
        return Figures.of(
                        Quantity.DISPATCH_GIGABYTES_PER_SECOND,
                        line.path("dispatch_gigabytes_per_second").asDouble())
                .with(
                        Quantity.COMBINE_GIGABYTES_PER_SECOND,
                        line.path("combine_gigabytes_per_second").asDouble());
    }
}
