package io.sluice.samples.bench;

import io.sluice.collectives.Team;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.cuda.GpuExpertBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures a plan's dispatches and combines on one rank of a team. All ranks do the same; the first one decides how many
 * rounds the next block has, and has the figures.
 */
public final class ExpertRun {
    private static final long MOST_ROUNDS = 10_000;
    // a dispatch on its own would find in the caches what combine has left
    private static final long LEAST_ROUNDS = 3;
    private static final int MOST_WORDS = 4;

    private final TransferEngine engine;
    private final Team team;
    private final ExpertPlan plan;
    private final MemoryPlace place;
    private final BooleanSupplier interrupted;

    /**
     * On one rank.
     *
     * @param engine of the team
     * @param place this rank's memory; a GPU by its UUID
     * @param interrupted whether to break off
     */
    public ExpertRun(
            TransferEngine engine, Team team, ExpertPlan plan, MemoryPlace place, BooleanSupplier interrupted) {
        this.engine = engine;
        this.team = team;
        this.plan = plan;
        this.place = place;
        this.interrupted = interrupted;
    }

    /**
     * Measures.
     *
     * @param results takes the figures when they are there; on other ranks than the first there are none
     * @throws SluiceException if the team or the buffer has failed: the figures until then are given before
     */
    public void measure(Consumer<ExpertResult> results) {
        boolean needsAnswers = plan.mode() == ExpertMode.NORMAL || !place.isHost();
        try (RankControl control = new RankControl(engine, team, MOST_WORDS, interrupted);
                ExpertContent content = new ExpertContent(plan);
                ExpertMemory memory = new ExpertMemory(engine, plan, content, team.rank(), needsAnswers);
                ExpertCalls calls = calls(control, content, memory)) {
            new Blocks(control, content, calls).measure(results);
            control.meet();
        }
    }

    private ExpertCalls calls(RankControl control, ExpertContent content, ExpertMemory memory) {
        if (!place.isHost()) {
            GpuExpertBuffer buffer = control.await(GpuExpertBuffer.create(team, place.device(), plan.gpuOptions()));
            return made(
                    () -> new GpuExpertCalls(engine, buffer, plan, content, memory, place, control),
                    buffer::closeAsync);
        }
        ExpertBuffer buffer = control.await(ExpertBuffer.create(team, plan.options()));
        return made(
                () -> switch (plan.mode()) {
                    case LOW_LATENCY -> new LowLatencyCalls(buffer, plan, content, memory);
                    case NORMAL -> new NormalCalls(buffer, plan, content, memory);
                },
                buffer::closeAsync);
    }

    /** Calls have a buffer, which is closed here if they cannot be made. */
    private static ExpertCalls made(Supplier<ExpertCalls> calls, Supplier<CompletableFuture<Void>> closing) {
        try {
            return calls.get();
        } catch (RuntimeException e) {
            Waiting.await(closing.get(), "closing the buffer");
            throw e;
        }
    }

    /** Blocks of rounds: of dispatches, and then of combines. */
    private final class Blocks {
        private final RankControl control;
        private final ExpertContent content;
        private final ExpertCalls calls;
        private final OperationLoop dispatches;
        private final OperationLoop combines;
        private final BlockLengths lengths =
                new BlockLengths(plan.warmup(), plan.duration(), LEAST_ROUNDS, MOST_ROUNDS);
        private boolean measuring;
        private long block;
        private long wrong;

        Blocks(RankControl control, ExpertContent content, ExpertCalls calls) {
            this.control = control;
            this.content = content;
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
                ExpertCalls.DeviceMicros device = deviceMicros();
                long allWrong = control.sum(wrong);
                List<RankFigures> dispatched = control.gathered(dispatches.figures());
                List<RankFigures> combined = control.gathered(combines.figures());
                if (team.rank() == 0) {
                    results.accept(result(dispatched, combined, device, allWrong, null));
                }
            } catch (SluiceException e) {
                if (team.rank() == 0) {
                    results.accept(result(List.of(dispatches.figures()), List.of(combines.figures()), null, wrong, e));
                }
                throw e;
            }
        }

        private void run(long length) {
            boolean isNew = plan.verify() || block == 0;
            if (isNew) {
                calls.fill(block);
            }
            control.await(dispatches.run(length, measuring));
            if (isNew) {
                ExpertRows rows = calls.rows();
                wrong += plan.verify() ? rows.wrong(block) : 0;
                calls.answer(rows, block);
            }
            control.await(combines.run(length, measuring));
            if (plan.verify()) {
                wrong += calls.wrongSums(block);
            }
            if (place.isHost()) {
                countTogether();
            }
            block++;
        }

        /**
         * A block lasts from the first rank's start to the last one's end: by the clock of a rank that shares its processor the
         * other's turn before its own would not count. All ranks run on this machine and have the same clock.
         */
        private void countTogether() {
            long[] times = {
                -dispatches.blockBegan(), dispatches.blockEnded(), -combines.blockBegan(), combines.blockEnded()
            };
            control.greatest(times);
            dispatches.blockTook(times[0] + times[1]);
            combines.blockTook(times[2] + times[3]);
        }

        /** Calls of the last block once more. */
        private ExpertCalls.@Nullable DeviceMicros deviceMicros() {
            if (plan.verify()) {
                calls.fill(block - 1);
            }
            ExpertCalls.DeviceMicros micros = calls.deviceMicros(control);
            if (plan.verify() && micros != null) {
                wrong += calls.rows().wrong(block - 1) + calls.wrongSums(block - 1);
            }
            return micros;
        }

        private ExpertResult result(
                List<RankFigures> dispatched,
                List<RankFigures> combined,
                ExpertCalls.@Nullable DeviceMicros device,
                long wrongVectors,
                @Nullable SluiceException error) {
            return ExpertResult.of(
                    plan,
                    control.transport(),
                    calls.backend(),
                    place,
                    (double) content.vectors() / plan.ranks(),
                    dispatched,
                    combined,
                    device,
                    wrongVectors,
                    error);
        }
    }
}
