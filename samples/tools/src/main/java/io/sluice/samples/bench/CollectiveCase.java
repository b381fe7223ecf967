package io.sluice.samples.bench;

import io.sluice.collectives.Team;
import io.sluice.engine.SluiceException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Measures one case of a plan on one rank: by operations that are waited for, one after the other, and what its calls measure. */
final class CollectiveCase {
    private static final long MOST_OPERATIONS = 100_000;

    private final Team team;
    private final CollectivePlan plan;
    private final CollectivePlan.Case measured;
    private final RankControl control;
    private final Buffers buffers;
    private final Calls calls;
    private final OperationLoop loop;
    private final int slots;
    private final BlockLengths lengths;
    private boolean measuring;
    private long operation;
    private long wrong;

    /** What a rank gives and gets, in slots that are used one after the other. */
    interface Buffers {
        /** Gets a slot ready for an operation: fills what this rank gives, and spoils what it gets. */
        void fill(int slot, long operation);

        /** Whether every element that this rank has got is right, and what it gave is as it was. */
        boolean isRight(int slot, long operation);
    }

    /** How operations are started. */
    interface Calls extends OperationLoop.Operation {
        /** How bytes go: the algorithm's name. */
        String algorithm();

        /** Where the memory is. */
        MemoryPlace memory();

        /** How many collectives one operation starts, by a graph; 0 for one without a graph. */
        int graph();

        /**
         * Measures operations of the first slot that follow each other, by the clock of the GPU; all ranks call it.
         *
         * @return microseconds of a collective; {@code null} on the host
         */
        @Nullable
        Double deviceMicros(RankControl control);
    }

    CollectiveCase(
            Team team,
            CollectivePlan plan,
            CollectivePlan.Case measured,
            RankControl control,
            Buffers buffers,
            Calls calls) {
        this.team = team;
        this.plan = plan;
        this.measured = measured;
        this.control = control;
        this.buffers = buffers;
        this.calls = calls;
        slots = plan.slots(measured);
        boolean isTimed = plan.verify() && measured.collective() == BenchCollective.BARRIER;
        // the host's copies leave a GPU's caches cold, so that a block there uses its slots many times
        boolean isRound = plan.verify() && (isTimed || calls.memory().isHost());
        lengths = new BlockLengths(plan.warmup(), plan.duration(), 1, isRound ? slots : MOST_OPERATIONS);
        loop = new OperationLoop(team, calls, isTimed ? slots : 0);
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
            Double deviceMicros = deviceMicros();
            long allWrong = control.sum(wrong);
            List<RankFigures> figures = control.gathered(loop.figures());
            if (team.rank() == 0) {
                results.accept(result(figures, deviceMicros, allWrong, 0, null));
            }
        } catch (SluiceException e) {
            if (team.rank() == 0) {
                results.accept(result(List.of(loop.figures()), null, wrong, 1, e));
            }
            throw e;
        }
    }

    private void run(long length) {
        int used = (int) Math.min(length, slots);
        if (plan.verify()) {
            for (int slot = 0; slot < used; slot++) {
                buffers.fill(slot, operation + slot);
            }
        }
        control.await(loop.run(length, measuring));
        if (plan.verify()) {
            check(used);
        }
        operation += length;
    }

    private void check(int used) {
        if (measured.collective() == BenchCollective.BARRIER) {
            long[] began = loop.began();
            control.greatest(began);
            long[] ended = loop.ended();
            for (int i = 0; i < used; i++) {
                // No rank goes on before all have come.
                wrong += ended[i] < began[i] ? 1 : 0;
            }
            return;
        }
        for (int slot = 0; slot < used; slot++) {
            wrong += buffers.isRight(slot, operation + slot) ? 0 : 1;
        }
    }

    private @Nullable Double deviceMicros() {
        boolean checks = plan.verify() && measured.collective() != BenchCollective.BARRIER;
        if (checks) {
            buffers.fill(0, operation);
            // No rank writes to another one that is not ready.
            control.meet();
        }
        Double micros = calls.deviceMicros(control);
        if (checks && micros != null) {
            wrong += buffers.isRight(0, operation) ? 0 : 1;
        }
        return micros;
    }

    private CollectiveResult result(
            List<RankFigures> figures,
            @Nullable Double deviceMicros,
            long wrongResults,
            long errors,
            @Nullable SluiceException error) {
        return CollectiveResult.of(
                plan,
                measured,
                calls,
                deviceMicros,
                control.transport(),
                figures,
                RankFigures.latencies(figures),
                wrongResults,
                errors,
                error);
    }
}
