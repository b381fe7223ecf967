package io.sluice.samples.bench;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveOperations;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.PersistentCollective;
import io.sluice.collectives.Team;
import io.sluice.engine.SluiceException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Starts the operations of one case: calls collectives, or starts those that are prepared. */
final class CollectiveCalls implements CollectiveCase.Calls, CollectiveCallback, AutoCloseable {
    private static final int ROOT = 0;
    private static final int TAG = 0;

    private final Team team;
    private final CollectivePlan plan;
    private final CollectivePlan.Case measured;
    private final RankBuffers buffers;
    private final CollectiveOptions options;
    private final int slots;
    private final PersistentCollective[] prepared;

    // those of the loop that runs them
    private @Nullable OperationLoop loop;
    private @Nullable Collective last;

    CollectiveCalls(Team team, CollectivePlan plan, CollectivePlan.Case measured, RankBuffers buffers) {
        this.team = team;
        this.plan = plan;
        this.measured = measured;
        this.buffers = buffers;
        options = CollectiveOptions.defaults().withAlgorithm(measured.algorithm());
        slots = plan.slots(measured);
        prepared = new PersistentCollective[plan.persistent() ? slots : 0];
        for (int slot = 0; slot < prepared.length; slot++) {
            prepared[slot] = call(team.prepare(), slot, (collective, error) -> {});
        }
    }

    @Override
    public int signals() {
        return measured.collective() == BenchCollective.SENDRECV ? 2 : 1;
    }

    @Override
    public void start(long number, OperationLoop operations) {
        loop = operations;
        int slot = (int) (number % slots);
        if (plan.persistent()) {
            prepared[slot].start(this);
        } else if (measured.collective() == BenchCollective.SENDRECV) {
            exchange(slot);
        } else {
            call(team, slot, this);
        }
    }

    @Override
    public void ended(Collective collective, @Nullable SluiceException error) {
        last = collective;
        Objects.requireNonNull(loop).ended(error);
    }

    /** That of the last one; before the first the one that was asked for. */
    @Override
    public String algorithm() {
        Collective known = last;
        Algorithm used = known == null ? null : known.algorithm();
        return (used == null ? measured.algorithm() : used).toString();
    }

    @Override
    public MemoryPlace memory() {
        return MemoryPlace.HOST;
    }

    @Override
    public int graph() {
        return 0;
    }

    @Override
    public @Nullable Double deviceMicros(RankControl control) {
        return null;
    }

    private void exchange(int slot) {
        int next = (team.rank() + 1) % team.size();
        int before = (team.rank() + team.size() - 1) % team.size();
        CollectiveOptions defaults = CollectiveOptions.defaults();
        team.receive(
                buffers.target(),
                buffers.targetOffset(slot),
                measured.count(),
                plan.type(),
                before,
                TAG,
                defaults,
                this);
        team.send(
                buffers.source(), buffers.sourceOffset(slot), measured.count(), plan.type(), next, TAG, defaults, this);
    }

    private <C extends Collective> C call(CollectiveOperations<C> on, int slot, CollectiveCallback callback) {
        var source = buffers.source();
        var target = buffers.target();
        long from = buffers.sourceOffset(slot);
        long to = buffers.targetOffset(slot);
        long count = measured.count();
        var type = plan.type();
        return switch (measured.collective()) {
            case ALLREDUCE -> on.allReduce(source, from, target, to, count, type, plan.operation(), options, callback);
            case REDUCESCATTER ->
                on.reduceScatter(source, from, target, to, count, type, plan.operation(), options, callback);
            case ALLGATHER -> on.allGather(source, from, target, to, count, type, options, callback);
            case BROADCAST -> on.broadcast(target, to, count, type, ROOT, options, callback);
            case REDUCE -> on.reduce(source, from, target, to, count, type, plan.operation(), ROOT, options, callback);
            case GATHER -> on.gather(source, from, target, to, count, type, ROOT, options, callback);
            case SCATTER -> on.scatter(source, from, target, to, count, type, ROOT, options, callback);
            case ALLTOALL -> on.allToAll(source, from, target, to, count, type, options, callback);
            case BARRIER -> on.barrier(options, callback);
            case SENDRECV -> throw new IllegalStateException("it is no collective, and cannot be prepared");
        };
    }

    @Override
    public void close() {
        for (PersistentCollective each : prepared) {
            each.close();
        }
    }
}
