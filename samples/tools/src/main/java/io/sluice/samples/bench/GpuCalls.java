package io.sluice.samples.bench;

import io.sluice.collectives.cuda.GpuCollective;
import io.sluice.collectives.cuda.GpuCollectiveGraph;
import io.sluice.collectives.cuda.GpuTeam;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.engine.SluiceException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Starts the operations of one case on GPUs: prepared collectives, or graphs of one of them several times. */
final class GpuCalls implements CollectiveCase.Calls, AutoCloseable {
    private static final int ROOT = 0;

    /** Collectives that are started without being waited for: those of a broadcast are two launches. */
    private static final int MOST_UNDER_WAY = GpuMeasuring.MOST_OF_A_GRAPH;

    private final GpuRank gpu;
    private final CollectivePlan plan;
    private final CollectivePlan.Case measured;
    private final GpuBuffers buffers;
    private final int slots;
    private final List<GpuCollective> prepared = new ArrayList<>();
    private final List<GpuCollectiveGraph> graphs = new ArrayList<>();
    private final GpuCollective barrier;
    private final GpuRounds rounds;
    private final GpuRounds.Reached ended = this::reached;

    // that of the loop that runs them
    private @Nullable OperationLoop loop;

    GpuCalls(GpuRank gpu, CollectivePlan plan, CollectivePlan.Case measured, GpuBuffers buffers) {
        this.gpu = gpu;
        this.plan = plan;
        this.measured = measured;
        this.buffers = buffers;
        slots = plan.slots(measured);
        for (int slot = 0; slot < slots; slot++) {
            GpuCollective collective = prepare(slot);
            prepared.add(collective);
            if (graph() > 0) {
                graphs.add(gpu.team().graph(Collections.nCopies(graph(), collective)));
            }
        }
        barrier = gpu.team().barrier();
        rounds = new GpuRounds(gpu.team().stream(), gpu.team()::onReached);
    }

    private GpuCollective prepare(int slot) {
        GpuTeam on = gpu.team();
        TeamRegion source = gpu.source().shared();
        TeamRegion target = gpu.target().shared();
        long from = buffers.sourceOffset(slot);
        long to = buffers.targetOffset(slot);
        long count = measured.count();
        long bytes = count * plan.type().bytes();
        return switch (measured.collective()) {
            case ALLREDUCE -> on.allReduce(source, from, target, to, count, plan.type(), plan.operation());
            case REDUCESCATTER -> on.reduceScatter(source, from, target, to, count, plan.type(), plan.operation());
            case REDUCE -> on.reduce(source, from, target, to, count, plan.type(), plan.operation(), ROOT);
            case ALLGATHER -> on.allGather(source, from, target, to, bytes);
            case ALLTOALL -> on.allToAll(source, from, target, to, bytes);
            case BROADCAST -> on.broadcast(target, to, target, to, bytes, ROOT);
            case BARRIER -> on.barrier();
            case GATHER, SCATTER, SENDRECV -> throw new IllegalStateException("GPUs do no " + measured.collective());
        };
    }

    @Override
    public void start(long number, OperationLoop operations) {
        loop = operations;
        int slot = (int) (number % slots);
        rounds.arm(
                graphs.isEmpty() ? prepared.get(slot).start() : graphs.get(slot).start(), ended);
    }

    private void reached(@Nullable SluiceException error) {
        Objects.requireNonNull(loop).ended(error);
    }

    @Override
    public String algorithm() {
        return prepared.getFirst().algorithm().label();
    }

    @Override
    public MemoryPlace memory() {
        return gpu.measuring().place();
    }

    @Override
    public int graph() {
        return gpu.measuring().graph();
    }

    /** Behind a barrier, so that all GPUs begin at the same time. */
    @Override
    public Double deviceMicros(RankControl control) {
        int each = Math.max(1, graph());
        Runnable step = graphs.isEmpty() ? prepared.getFirst()::startUnnumbered : graphs.getFirst()::startUnnumbered;
        return rounds.micros(
                        control, plan.duration(), Math.max(1, MOST_UNDER_WAY / each), barrier::startUnnumbered, step)
                / each;
    }

    @Override
    public void close() {
        rounds.close();
        graphs.forEach(graph -> Waiting.await(graph.closeAsync(), "giving a graph back"));
    }
}
