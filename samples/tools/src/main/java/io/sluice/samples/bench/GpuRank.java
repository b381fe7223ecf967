package io.sluice.samples.bench;

import io.sluice.collectives.Team;
import io.sluice.collectives.cuda.GpuTeam;
import io.sluice.collectives.cuda.GpuTeamOptions;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.cuda.GpuTimer;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A rank's part of a team of GPUs, and memory on its GPU for all cases of a plan. */
final class GpuRank implements AutoCloseable {
    private final GpuMeasuring measuring;
    private final RankControl control;
    private final GpuTeam team;
    private final Connection own;
    private final Memory source;
    private final Memory target;
    private final GpuTimer timer;

    /** A region of each rank, and how this rank's bytes get there and back. */
    record Memory(MemoryRegion region, TeamRegion shared, RemoteRegion attached) {}

    GpuRank(TransferEngine engine, Team ranks, CollectivePlan plan, GpuMeasuring measuring, RankControl control) {
        this.measuring = measuring;
        this.control = control;
        team = control.await(GpuTeam.form(ranks, measuring.place().device(), GpuTeamOptions.defaults()));
        own = control.await(engine.connect(engine.address()));
        source = memory(
                engine,
                plan.cases().stream()
                        .mapToLong(each -> GpuBuffers.sourceBytes(plan, each))
                        .max()
                        .orElse(0));
        target = memory(
                engine,
                plan.cases().stream()
                        .mapToLong(each -> GpuBuffers.targetBytes(plan, each))
                        .max()
                        .orElse(0));
        timer = team.stream().timer();
    }

    private Memory memory(TransferEngine engine, long bytes) {
        MemoryRegion region =
                engine.allocate(Math.max(1, bytes), measuring.place().of(RegionOptions.readWrite()));
        return new Memory(region, control.await(team.share(region)), control.await(own.attach(region.descriptor())));
    }

    GpuMeasuring measuring() {
        return measuring;
    }

    GpuTeam team() {
        return team;
    }

    Memory source() {
        return source;
    }

    Memory target() {
        return target;
    }

    GpuTimer timer() {
        return timer;
    }

    /** Copies bytes of the host to the GPU. */
    void put(MemoryRegion host, long hostOffset, Memory memory, long offset, long bytes) {
        transfer(
                bytes,
                ended -> own.write(
                        host, hostOffset, memory.attached(), offset, bytes, TransferOptions.defaults(), ended));
    }

    /** Copies bytes of the GPU to the host. */
    void get(MemoryRegion host, long hostOffset, Memory memory, long offset, long bytes) {
        transfer(
                bytes,
                ended -> own.read(
                        host, hostOffset, memory.attached(), offset, bytes, TransferOptions.defaults(), ended));
    }

    private void transfer(long bytes, Consumer<TransferCallback> start) {
        if (bytes == 0) {
            return;
        }
        CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
        start.accept((transfer, error) -> end(end, error));
        control.await(end);
    }

    static void end(CompletableFuture<@Nullable Void> end, @Nullable SluiceException error) {
        if (error == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(error);
        }
    }

    @Override
    public void close() {
        timer.close();
        Waiting.await(source.shared().closeAsync(), "unmapping the memory of GPUs");
        Waiting.await(target.shared().closeAsync(), "unmapping the memory of GPUs");
        Waiting.await(team.closeAsync(), "closing the team of GPUs");
        own.close();
        Waiting.await(source.region().close(), "giving memory of a GPU back");
        Waiting.await(target.region().close(), "giving memory of a GPU back");
    }
}
