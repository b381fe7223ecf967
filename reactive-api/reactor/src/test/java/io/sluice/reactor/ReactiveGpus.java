package io.sluice.reactor;

import io.sluice.cuda.GpuInfo;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** The ranks of a team with two engines of this process, which use the first GPU. */
final class ReactiveGpus implements AutoCloseable {
    static final String GPU = GpuInfo.all().getFirst().id();

    private final ReactiveRanks ranks = ReactiveRanks.form(2, "shm", "tcp", "cuda");

    ReactiveRanks ranks() {
        return ranks;
    }

    /** Memory of the GPU, filled from the host. */
    MemoryRegion region(int rank, long bytes, Consumer<MemorySegment> fill) {
        MemoryRegion region =
                ranks.engine(rank).allocate(bytes, RegionOptions.readWrite().on(MemoryKind.CUDA, GPU));
        MemoryRegion host = ranks.region(rank, bytes);
        fill.accept(host.segment());
        ReactiveConnection own = own(rank);
        own.write(host, attached(own, region), 0).block(Patience.BOUND);
        return region;
    }

    /** A copy of the GPU's memory. */
    MemorySegment read(int rank, MemoryRegion region) {
        MemoryRegion host = ranks.region(rank, region.length());
        ReactiveConnection own = own(rank);
        own.read(host, attached(own, region), 0).block(Patience.BOUND);
        return host.segment();
    }

    private ReactiveConnection own(int rank) {
        return ReactiveTransferEngine.from(ranks.engine(rank))
                .connect(ranks.engine(rank).address())
                .block(Patience.BOUND);
    }

    private static RemoteRegion attached(ReactiveConnection connection, MemoryRegion region) {
        return connection.attach(region.descriptor()).block(Patience.BOUND);
    }

    @Override
    public void close() {
        ranks.close();
    }
}
