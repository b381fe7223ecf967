package io.sluice.samples.bench;

import io.sluice.collectives.Team;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Measures a plan's cases on one rank of a team, one after the other. All ranks do the same; the first one decides how many operations
 * the next block has, and has the figures.
 */
public final class CollectiveRun {
    private final TransferEngine engine;
    private final Team team;
    private final CollectivePlan plan;
    private final @Nullable GpuMeasuring gpus;
    private final BooleanSupplier interrupted;

    /**
     * On one rank.
     *
     * @param engine of the team
     * @param gpus what is about GPUs; {@code null} for memory of the host
     * @param interrupted whether to break off
     */
    public CollectiveRun(
            TransferEngine engine,
            Team team,
            CollectivePlan plan,
            @Nullable GpuMeasuring gpus,
            BooleanSupplier interrupted) {
        this.engine = engine;
        this.team = team;
        this.plan = plan;
        this.gpus = gpus;
        this.interrupted = interrupted;
    }

    /**
     * Measures all.
     *
     * @param results takes each case's figures when they are there; on other ranks than the first there are none
     * @throws SluiceException if the team has failed: the case's figures until then are given before
     */
    public void measure(Consumer<CollectiveResult> results) {
        List<CollectivePlan.Case> cases = plan.cases();
        int words = cases.stream().mapToInt(plan::slots).max().orElse(1);
        try (RankControl control = new RankControl(engine, team, words, interrupted);
                CollectiveContent content = new CollectiveContent(team.size(), plan.type(), plan.operation())) {
            if (gpus == null) {
                measureOnHost(cases, control, content, results);
            } else {
                measureOnGpus(gpus, cases, control, content, results);
            }
            control.meet();
        }
    }

    private void measureOnHost(
            List<CollectivePlan.Case> cases,
            RankControl control,
            CollectiveContent content,
            Consumer<CollectiveResult> results) {
        for (CollectivePlan.Case measured : cases) {
            try (RankBuffers buffers = new RankBuffers(engine, plan, measured, content, team.rank());
                    CollectiveCalls calls = new CollectiveCalls(team, plan, measured, buffers)) {
                new CollectiveCase(team, plan, measured, control, buffers, calls).measure(results);
            }
        }
    }

    private void measureOnGpus(
            GpuMeasuring measuring,
            List<CollectivePlan.Case> cases,
            RankControl control,
            CollectiveContent content,
            Consumer<CollectiveResult> results) {
        try (GpuRank gpu = new GpuRank(engine, team, plan, measuring, control)) {
            for (CollectivePlan.Case measured : cases) {
                try (RankBuffers host = new RankBuffers(engine, plan, measured, content, team.rank())) {
                    GpuBuffers buffers = new GpuBuffers(gpu, plan, measured, host);
                    try (GpuCalls calls = new GpuCalls(gpu, plan, measured, buffers)) {
                        new CollectiveCase(team, plan, measured, control, buffers, calls).measure(results);
                    }
                }
            }
        }
    }
}
