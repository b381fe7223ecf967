package io.sluice.samples.compare;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.ExpertPlan;
import java.util.List;
import java.util.Map;

/**
 * The same by kernels of PyTorch and its {@code all_to_all_single} over NCCL, by a script in this package's resources, which checks what it
 * has brought before and after it measures.
 */
record TorchExperts(GpuExperts experts) implements Measurement {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TorchScript SCRIPT = new TorchScript("torch_experts.py");

    @Override
    public Program program() {
        return Program.TORCH;
    }

    @Override
    public String label() {
        return "PyTorch " + experts.description();
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        Timing timing = environment.timing();
        return figures(environment
                .unpinned()
                .runAlone(
                        label(),
                        Map.of(),
                        SCRIPT.command(
                                environment,
                                operands(
                                        "cuda",
                                        timing.warmup().toMillis(),
                                        timing.duration().toMillis()))));
    }

    /** What the script is told; on {@code cpu} it checks, and its times say nothing. */
    List<String> operands(String device, long warmupMillis, long durationMillis) {
        ExpertPlan plan = experts.plan();
        return operands(device, plan.tokens(), plan.hidden(), plan.experts(), warmupMillis, durationMillis);
    }

    /** The same of other sizes. */
    List<String> operands(String device, int tokens, int hidden, int total, long warmupMillis, long durationMillis) {
        return List.of(
                device,
                experts.mode().toString(),
                experts.format(),
                Integer.toString(tokens),
                Integer.toString(hidden),
                Integer.toString(Experts.TOP_K),
                Integer.toString(total),
                Long.toString(warmupMillis),
                Long.toString(durationMillis));
    }

    Figures figures(String output) throws MeasurementFailedException {
        Output told = Output.of(output);
        return experts.figures(told.vectors(), told.dispatchMicros(), told.combineMicros(), told.roundMicros());
    }

    /**
     * The line that the script prints.
     *
     * @param vectors that travel in a dispatch, of the average rank
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Output(
            @JsonProperty(required = true) double vectors,

            @JsonProperty(value = "dispatch_us", required = true)
            double dispatchMicros,

            @JsonProperty(value = "combine_us", required = true)
            double combineMicros,

            @JsonProperty(value = "round_us", required = true)
            double roundMicros) {
        static Output of(String output) throws MeasurementFailedException {
            try {
                return JSON.readValue(
                        output.lines()
                                .filter(text -> text.startsWith("{"))
                                .findFirst()
                                .orElse(""),
                        Output.class);
            } catch (JsonProcessingException e) {
                throw new MeasurementFailedException("it printed no figures");
            }
        }
    }
}
