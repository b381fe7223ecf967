package io.sluice.samples.bench;

import io.sluice.collectives.Team;
import io.sluice.collectives.cuda.GpuTeam;
import io.sluice.collectives.cuda.GpuTeamOptions;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;

/** A rank's part of a team of GPUs, and memory on its GPU for all cases of a plan. */
final class GpuRank implements AutoCloseable {
    private final GpuMeasuring measuring;
    private final RankControl control;
    private final GpuTeam team;
    private final GpuCopies copies;
    private final Memory source;
    private final Memory target;

    /** A region of each rank, and how this rank's bytes get there and back. */
    record Memory(MemoryRegion region, TeamRegion shared, RemoteRegion attached) {}

    GpuRank(TransferEngine engine, Team ranks, CollectivePlan plan, GpuMeasuring measuring, RankControl control) {
        this.measuring = measuring;
        this.control = control;
        team = control.await(GpuTeam.form(ranks, measuring.place().device(), GpuTeamOptions.defaults()));
        copies = new GpuCopies(engine, control);
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
    }

    private Memory memory(TransferEngine engine, long bytes) {
        MemoryRegion region =
                engine.allocate(Math.max(1, bytes), measuring.place().of(RegionOptions.readWrite()));
        return new Memory(region, control.await(team.share(region)), copies.attach(region));
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

    GpuCopies copies() {
        return copies;
    }

    @Override
    public void close() {
        Waiting.await(source.shared().closeAsync(), "unmapping the memory of GPUs");
        Waiting.await(target.shared().closeAsync(), "unmapping the memory of GPUs");
        Waiting.await(team.closeAsync(), "closing the team of GPUs");
        copies.close();
        Waiting.await(source.region().close(), "giving memory of a GPU back");
        Waiting.await(target.region().close(), "giving memory of a GPU back");
    }
}
