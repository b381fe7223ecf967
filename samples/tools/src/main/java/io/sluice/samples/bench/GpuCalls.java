package io.sluice.samples.bench;

import io.sluice.collectives.cuda.GpuCollective;
import io.sluice.collectives.cuda.GpuCollectiveGraph;
import io.sluice.collectives.cuda.GpuTeam;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Starts the operations of one case on GPUs: prepared collectives, or graphs of one of them several times. */
final class GpuCalls implements CollectiveCase.Calls, AutoCloseable {
    private static final int ROOT = 0;

    /** Collectives that are started without being waited for: those of a broadcast are two launches. */
    private static final int MOST_UNDER_WAY = GpuMeasuring.MOST_OF_A_GRAPH;

    private static final int LEAST_ROUNDS = 3;
    private static final int MOST_ROUNDS = 100;
    private static final long ROUND_NANOS = 50_000_000;

    private final GpuRank gpu;
    private final CollectivePlan plan;
    private final CollectivePlan.Case measured;
    private final GpuBuffers buffers;
    private final int slots;
    private final List<GpuCollective> prepared = new ArrayList<>();
    private final List<GpuCollectiveGraph> graphs = new ArrayList<>();
    private final GpuCollective barrier;
    private final SignalWait wait;

    // those of the loop that runs them
    private @Nullable OperationLoop loop;
    private volatile @Nullable CompletableFuture<@Nullable Void> awaited;

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
        wait = gpu.team().onReached((armed, number, error) -> reached(error));
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
        wait.arm(
                graphs.isEmpty() ? prepared.get(slot).start() : graphs.get(slot).start());
    }

    private void reached(@Nullable SluiceException error) {
        CompletableFuture<@Nullable Void> end = awaited;
        if (end == null) {
            Objects.requireNonNull(loop).ended(error);
            return;
        }
        awaited = null;
        GpuRank.end(end, error);
    }

    @Override
    public String algorithm() {
        return prepared.getFirst().exchanges() ? "messages" : "direct";
    }

    @Override
    public MemoryPlace memory() {
        return gpu.measuring().place();
    }

    @Override
    public int graph() {
        return gpu.measuring().graph();
    }

    /** The median of rounds, whose number the first rank decides. */
    @Override
    public Double deviceMicros(RankControl control) {
        int each = Math.max(1, graph());
        long most = Math.max(1, MOST_UNDER_WAY / each);
        long end = System.nanoTime() + plan.duration().toNanos();
        // one tells how many make a round
        long starts = control.agreed(Math.clamp(ROUND_NANOS / Math.max(1, round(1, control)), 1, most));
        long[] rounds = new long[MOST_ROUNDS];
        int count = 0;
        boolean isEnough;
        do {
            rounds[count++] = round(starts, control) / (starts * each);
            isEnough = count == MOST_ROUNDS || (count >= LEAST_ROUNDS && System.nanoTime() - end > 0);
        } while (control.agreed(isEnough ? 0 : 1) == 1);
        Arrays.sort(rounds, 0, count);
        long[] slowest = {rounds[count / 2]};
        control.greatest(slowest);
        return slowest[0] / 1e3;
    }

    /** Starts some behind a barrier, so that all GPUs begin them at the same time. */
    private long round(long starts, RankControl control) {
        CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
        awaited = end;
        barrier.startUnnumbered();
        gpu.timer().begin();
        for (long i = 0; i < starts; i++) {
            if (graphs.isEmpty()) {
                prepared.getFirst().startUnnumbered();
            } else {
                graphs.getFirst().startUnnumbered();
            }
        }
        wait.arm(gpu.timer().end());
        control.await(end);
        return gpu.timer().nanos();
    }

    @Override
    public void close() {
        wait.close();
        graphs.forEach(graph -> Waiting.await(graph.closeAsync(), "giving a graph back"));
    }
}
