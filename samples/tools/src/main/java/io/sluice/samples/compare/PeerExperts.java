package io.sluice.samples.compare;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.samples.bench.ExpertPlan;
import java.util.Map;

/** The same elements by another program, which checks its last round. */
record PeerExperts(ExpertPeer peer, Experts experts) implements Measurement {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public Program program() {
        return peer.program();
    }

    @Override
    public String label() {
        return "C by " + peer + ", " + experts.description();
    }

    @Override
    public Figures run(BenchEnvironment environment) throws MeasurementFailedException {
        return figures(environment
                .unpinned()
                .runAlone(
                        label(),
                        Map.of("TMPDIR", environment.folder().toString()),
                        peer.command(experts, environment)));
    }

    private Figures figures(String output) throws MeasurementFailedException {
        ExpertPlan plan = experts.plan();
        PeerOutput told = PeerOutput.of(output);
        double vectors = (double) told.vectors() / plan.ranks() * told.rounds();
        return Figures.of(
                        Quantity.DISPATCH_GIGABYTES_PER_SECOND, vectors * plan.dispatchedBytes() / told.dispatchNanos())
                .with(Quantity.COMBINE_GIGABYTES_PER_SECOND, vectors * plan.combinedBytes() / told.combineNanos());
    }

    /**
     * The line that the programs print.
     *
     * @param vectors of all ranks in a round
     * @param dispatchNanos of all dispatches, on the rank that took longest
     * @param combineNanos of all combines, on the rank that took longest
     */
    record PeerOutput(
            long rounds,
            long vectors,
            @JsonProperty("dispatch_nanos") long dispatchNanos,
            @JsonProperty("combine_nanos") long combineNanos) {
        static PeerOutput of(String output) throws MeasurementFailedException {
            try {
                return JSON.readValue(output, PeerOutput.class);
            } catch (JsonProcessingException e) {
                throw new MeasurementFailedException("it printed no figures");
            }
        }
    }
}
