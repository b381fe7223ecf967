package io.sluice.samples.bench;

import io.sluice.collectives.Algorithm;
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
    private static final long MOST_OPERATIONS = 100_000;

    private final TransferEngine engine;
    private final Team team;
    private final CollectivePlan plan;
    private final BooleanSupplier interrupted;

    /**
     * On one rank.
     *
     * @param engine of the team
     * @param interrupted whether to break off
     */
    public CollectiveRun(TransferEngine engine, Team team, CollectivePlan plan, BooleanSupplier interrupted) {
        this.engine = engine;
        this.team = team;
        this.plan = plan;
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
            for (CollectivePlan.Case measured : cases) {
                try (RankBuffers buffers = new RankBuffers(engine, plan, measured, content, team.rank());
                        CollectiveCalls calls = new CollectiveCalls(team, plan, measured, buffers)) {
                    new CaseRun(control, buffers, calls, measured).measure(results);
                }
            }
            control.meet();
        }
    }

    /** One case. */
    private final class CaseRun {
        private final RankControl control;
        private final RankBuffers buffers;
        private final CollectivePlan.Case measured;
        private final CollectiveCalls calls;
        private final OperationLoop loop;
        private final int slots;
        private final BlockLengths lengths;
        private boolean measuring;
        private long operation;
        private long wrong;

        CaseRun(RankControl control, RankBuffers buffers, CollectiveCalls calls, CollectivePlan.Case measured) {
            this.control = control;
            this.buffers = buffers;
            this.calls = calls;
            this.measured = measured;
            slots = plan.slots(measured);
            lengths = new BlockLengths(plan.warmup(), plan.duration(), plan.verify() ? slots : MOST_OPERATIONS);
            loop = new OperationLoop(
                    team, calls, plan.verify() && measured.collective() == BenchCollective.BARRIER ? slots : 0);
        }

        void measure(Consumer<CollectiveResult> results) {
            try {
                if (!plan.verify()) {
                    buffers.fill(0, 0);
                }
                long length = control.agreed(1);
                while (length != 0) {
                    run(length);
                    length = control.agreed(team.rank() == 0 ? lengths.next(loop.blockNanos()) : 0);
                    if (length < 0) {
                        measuring = true;
                        length = -length;
                    }
                }
                long allWrong = control.sum(wrong);
                List<RankFigures> figures = control.gathered(loop.figures());
                if (team.rank() == 0) {
                    results.accept(result(figures, allWrong, 0, null));
                }
            } catch (SluiceException e) {
                if (team.rank() == 0) {
                    results.accept(result(List.of(loop.figures()), wrong, 1, e));
                }
                throw e;
            }
        }

        private void run(long length) {
            if (plan.verify()) {
                for (int slot = 0; slot < length; slot++) {
                    buffers.fill(slot, operation + slot);
                }
            }
            control.await(loop.run(length, measuring));
            if (plan.verify()) {
                check((int) length);
            }
            operation += length;
        }

        private void check(int length) {
            if (measured.collective() == BenchCollective.BARRIER) {
                long[] began = loop.began();
                control.greatest(began);
                long[] ended = loop.ended();
                for (int i = 0; i < length; i++) {
                    // No rank goes on before all have come.
                    wrong += ended[i] < began[i] ? 1 : 0;
                }
                return;
            }
            for (int slot = 0; slot < length; slot++) {
                wrong += buffers.isRight(slot, operation + slot) ? 0 : 1;
            }
        }

        private CollectiveResult result(
                List<RankFigures> figures, long wrongResults, long errors, @Nullable SluiceException error) {
            Algorithm used = calls.algorithm();
            return CollectiveResult.of(
                    plan,
                    measured,
                    used == null ? measured.algorithm() : used,
                    control.transport(),
                    figures,
                    RankFigures.latencies(figures),
                    wrongResults,
                    errors,
                    error);
        }
    }
}
