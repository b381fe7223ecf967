package io.sluice.metrics;

import io.sluice.metrics.EngineMeter.Type;
import java.util.List;

/** The meters that {@link GpuTeamMeters} and {@link GpuExpertMeters} register, with their names and meanings. */
public enum GpuMeter implements ExportedMeter {
    /** Collectives of GPUs that ended. */
    COLLECTIVE_OPERATIONS(
            "sluice.gpu.collective.operations",
            Type.COUNTER,
            "",
            "Collectives that the GPU is through with, successful or not; algorithm is messages, pushes or direct",
            "team",
            "rank",
            "device",
            "kind",
            "algorithm"),
    /** The size of collectives of GPUs. */
    COLLECTIVE_BYTES(
            "sluice.gpu.collective.bytes",
            Type.COUNTER,
            "bytes",
            "Size of those that were started: a rank's elements, or the blocks of all ranks",
            "team",
            "rank",
            "device",
            "kind",
            "algorithm"),
    /** Collectives of GPUs that have not ended. */
    COLLECTIVE_IN_FLIGHT(
            "sluice.gpu.collective.in.flight",
            Type.GAUGE,
            "",
            "Collectives that were started, and that the GPU is not through with",
            "team",
            "rank",
            "device",
            "kind",
            "algorithm"),
    /** How collectives of GPUs were started. */
    COLLECTIVE_STARTS(
            "sluice.gpu.collective.starts",
            Type.COUNTER,
            "",
            "Starts of collectives; of is single, graph or refused",
            "team",
            "rank",
            "device",
            "of"),
    /** Whether collectives of GPUs have failed. */
    COLLECTIVE_FAILED(
            "sluice.gpu.collective.failed",
            Type.GAUGE,
            "",
            "1 if collectives of the team's GPUs have failed, and no later one can succeed; else 0",
            "team",
            "rank",
            "device"),
    /** Calls on expert buffers of GPUs that ended. */
    EXPERT_CALLS(
            "sluice.gpu.expert.calls",
            Type.COUNTER,
            "",
            "Dispatches and combines that the GPU is through with, successful or not",
            "team",
            "rank",
            "device",
            "kind"),
    /** Tokens of those. */
    EXPERT_TOKENS(
            "sluice.gpu.expert.tokens",
            Type.COUNTER,
            "",
            "Tokens of this rank that those that were started dispatch or combine",
            "team",
            "rank",
            "device",
            "kind"),
    /** Calls on expert buffers of GPUs that have not ended. */
    EXPERT_IN_FLIGHT(
            "sluice.gpu.expert.in.flight",
            Type.GAUGE,
            "",
            "Dispatches and combines that were started, and that the GPU is not through with",
            "team",
            "rank",
            "device",
            "kind"),
    /** How calls on expert buffers of GPUs were started. */
    EXPERT_STARTS(
            "sluice.gpu.expert.starts",
            Type.COUNTER,
            "",
            "Starts of dispatches, combines and layouts; of is single, graph or refused",
            "team",
            "rank",
            "device",
            "of"),
    /** Whether an expert buffer of GPUs has failed. */
    EXPERT_FAILED(
            "sluice.gpu.expert.failed",
            Type.GAUGE,
            "",
            "1 if the expert buffer on GPUs has failed, and no later call can succeed; else 0",
            "team",
            "rank",
            "device");

    private static final String TEAM_PREFIX = "sluice.gpu.collective.";

    private final String meterName;
    private final Type type;
    private final String unit;
    private final String description;
    private final List<String> tags;

    GpuMeter(String meterName, Type type, String unit, String description, String... tags) {
        this.meterName = meterName;
        this.type = type;
        this.unit = unit;
        this.description = description;
        this.tags = List.of(tags);
    }

    @Override
    public String meterName() {
        return meterName;
    }

    @Override
    public Type type() {
        return type;
    }

    @Override
    public String unit() {
        return unit;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public List<String> tags() {
        return tags;
    }

    /**
     * Returns whether it is one of those that {@link GpuTeamMeters} registers.
     *
     * @return true for the meters of teams, false for those of experts
     */
    public boolean isOfTeams() {
        return meterName.startsWith(TEAM_PREFIX);
    }
}
