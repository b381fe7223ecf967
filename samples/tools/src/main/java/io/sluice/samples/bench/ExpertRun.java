package io.sluice.samples.bench;

import io.sluice.collectives.Team;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.ExpertBuffer;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Measures a plan's dispatches and combines on one rank of a team. All ranks do the same; the first one decides how many
 * rounds the next block has, and has the figures.
 */
public final class ExpertRun {
    private static final long MOST_ROUNDS = 10_000;

    private final TransferEngine engine;
    private final Team team;
    private final ExpertPlan plan;
    private final BooleanSupplier interrupted;

    /**
     * On one rank.
     *
     * @param engine of the team
     * @param interrupted whether to break off
     */
    public ExpertRun(TransferEngine engine, Team team, ExpertPlan plan, BooleanSupplier interrupted) {
        this.engine = engine;
        this.team = team;
        this.plan = plan;
        this.interrupted = interrupted;
    }

    /**
     * Measures.
     *
     * @param results takes the figures when they are there; on other ranks than the first there are none
     * @throws SluiceException if the team or the buffer has failed: the figures until then are given before
     */
    public void measure(Consumer<ExpertResult> results) {
        try (RankControl control = new RankControl(engine, team, 1, interrupted);
                ExpertContent content = new ExpertContent(plan);
                ExpertMemory memory = new ExpertMemory(engine, plan, content, team.rank());
                OpenBuffer open = new OpenBuffer(control.await(ExpertBuffer.create(team, plan.options())))) {
            new Blocks(control, open.buffer(), memory, calls(open.buffer(), content, memory)).measure(results);
            control.meet();
        }
    }

    /** A buffer that is closed before the memory that its calls use. */
    private record OpenBuffer(ExpertBuffer buffer) implements AutoCloseable {
        @Override
        public void close() {
            Waiting.await(buffer.closeAsync(), "closing the buffer");
        }
    }

    private ExpertCalls calls(ExpertBuffer buffer, ExpertContent content, ExpertMemory memory) {
        return switch (plan.mode()) {
            case LOW_LATENCY -> new LowLatencyCalls(buffer, plan, content, memory);
            case NORMAL -> new NormalCalls(buffer, plan, content, memory);
        };
    }

    /** Blocks of rounds: of dispatches, and then of combines. */
    private final class Blocks {
        private final RankControl control;
        private final ExpertBuffer buffer;
        private final ExpertMemory memory;
        private final ExpertCalls calls;
        private final OperationLoop dispatches;
        private final OperationLoop combines;
        private final BlockLengths lengths = new BlockLengths(plan.warmup(), plan.duration(), MOST_ROUNDS);
        private boolean measuring;
        private long block;
        private long wrong;

        Blocks(RankControl control, ExpertBuffer buffer, ExpertMemory memory, ExpertCalls calls) {
            this.control = control;
            this.buffer = buffer;
            this.memory = memory;
            this.calls = calls;
            dispatches = new OperationLoop(team, calls.dispatch(), 0);
            combines = new OperationLoop(team, calls.combine(), 0);
        }

        void measure(Consumer<ExpertResult> results) {
            try {
                long length = control.agreed(1);
                while (length != 0) {
                    run(length);
                    long took = dispatches.blockNanos() + combines.blockNanos();
                    length = control.agreed(team.rank() == 0 ? lengths.next(took) : 0);
                    if (length < 0) {
                        measuring = true;
                        length = -length;
                    }
                }
                long allWrong = control.sum(wrong);
                List<RankFigures> dispatched = control.gathered(dispatches.figures());
                List<RankFigures> combined = control.gathered(combines.figures());
                if (team.rank() == 0) {
                    results.accept(result(dispatched, combined, allWrong, null));
                }
            } catch (SluiceException e) {
                if (team.rank() == 0) {
                    results.accept(result(List.of(dispatches.figures()), List.of(combines.figures()), wrong, e));
                }
                throw e;
            }
        }

        private void run(long length) {
            boolean isNew = plan.verify() || block == 0;
            if (isNew) {
                memory.fill(block);
            }
            control.await(dispatches.run(length, measuring));
            if (plan.verify()) {
                wrong += calls.wrongRows(block);
            }
            if (isNew) {
                calls.answer(block);
            }
            control.await(combines.run(length, measuring));
            if (plan.verify()) {
                wrong += calls.wrongSums(block);
            }
            block++;
        }

        private ExpertResult result(
                List<RankFigures> dispatched,
                List<RankFigures> combined,
                long wrongVectors,
                @Nullable SluiceException error) {
            return ExpertResult.of(
                    plan,
                    control.transport(),
                    buffer.backend(),
                    (double) calls.vectors() / plan.ranks(),
                    dispatched,
                    combined,
                    wrongVectors,
                    error);
        }
    }
}
