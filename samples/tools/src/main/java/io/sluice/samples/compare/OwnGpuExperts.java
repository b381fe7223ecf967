package io.sluice.samples.compare;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.samples.bench.ExpertPlan;
import java.util.ArrayList;
import java.util.List;

/** Dispatch and combine of this engine on GPUs, as {@code sluice bench} measures them, with every row and sum checked. */
record OwnGpuExperts(GpuExperts experts) implements Measurement {
    @Override
    public Program program() {
        return Program.SLUICE;
    }

    @Override
    public String label() {
        Integer blocks = experts.blocks();
        return "sluice " + experts.description() + (blocks == null ? "" : ", " + blocks + " blocks");
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        return figures(
                environment.unpinned().runOwn(label(), experts.route().environment(), arguments(environment.timing())));
    }

    List<String> arguments(Timing timing) {
        ExpertPlan plan = experts.plan();
        List<String> arguments =
                new ArrayList<>(List.of("bench", "--experts", plan.mode().toString()));
        arguments.addAll(List.of("--memory", "cuda", "--ranks", Integer.toString(plan.ranks())));
        arguments.addAll(List.of("--tokens", Integer.toString(plan.tokens())));
        arguments.addAll(List.of("--hidden", Integer.toString(plan.hidden())));
        arguments.addAll(List.of("--top-k", Integer.toString(plan.topK())));
        arguments.addAll(List.of("--experts-total", Integer.toString(plan.experts())));
        if (plan.fp8()) {
            arguments.add("--fp8");
        }
        if (plan.blocks() != null) {
            arguments.addAll(List.of("--blocks", plan.blocks().toString()));
        }
        arguments.addAll(List.of("--verify", "--duration", timing.duration().toMillis() + "ms"));
        arguments.addAll(List.of("--warmup", timing.warmup().toMillis() + "ms", "--json", "-"));
        return arguments;
    }

    Figures figures(String output) throws MeasurementFailedException {
        JsonNode line = BenchLine.of(output);
        if (line.path("errors").asLong(-1) != 0 || !line.path("verified").asBoolean()) {
            throw new MeasurementFailedException(
                    "rounds that failed: " + line.path("errors") + "; verified: " + line.path("verified"));
        }
        return experts.figures(
                line.path("combine_bytes").asDouble() / experts.plan().combinedBytes(),
                line.path("device_dispatch_us").asDouble(),
                line.path("device_combine_us").asDouble(),
                line.path("device_round_us").asDouble());
    }
}
