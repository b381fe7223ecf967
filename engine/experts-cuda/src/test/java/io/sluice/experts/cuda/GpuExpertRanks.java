package io.sluice.experts.cuda;

import static io.sluice.testkit.Patience.await;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The ranks of a buffer on GPUs, each an engine of this process; they share the GPUs there are. */
final class GpuExpertRanks implements AutoCloseable {
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Team> teams = new ArrayList<>();
    private final List<GpuExpertBuffer> buffers = new ArrayList<>();
    private final List<Connection> own = new ArrayList<>();
    private final List<String> devices = GpuInfo.all().stream().map(GpuInfo::id).toList();

    private GpuExpertRanks() {}

    static GpuExpertRanks form(int size, GpuExpertOptions options) {
        return form(Islands.one(size), options);
    }

    private static GpuExpertRanks form(GpuExpertRanks ranks, GpuExpertOptions options) {
        try {
            ranks.adopt(ranks.create(rank -> options));
            return ranks;
        } catch (RuntimeException | Error e) {
            ranks.close();
            throw e;
        }
    }

    static GpuExpertRanks form(Islands islands, GpuExpertOptions options) {
        return form(unformed(islands), options);
    }

    /** Teams without buffers. */
    static GpuExpertRanks unformed(int size) {
        return unformed(Islands.one(size));
    }

    /** Teams without buffers. */
    static GpuExpertRanks unformed(Islands islands) {
        int size = islands.size();
        GpuExpertRanks ranks = new GpuExpertRanks();
        for (int i = 0; i < size; i++) {
            ranks.engines.add(TransferEngine.open(islands.engine(i)));
        }
        List<CompletableFuture<Team>> forming = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            forming.add(Team.form(
                    ranks.engines.get(i),
                    TeamOptions.rank(i)
                            .of(size)
                            .rendezvous(ranks.engines.getFirst().address())
                            .timeout(Patience.BOUND)
                            .formTimeout(Patience.BOUND)));
        }
        ranks.teams.addAll(Patience.awaitAll("forming the team, by rank,", forming));
        ranks.engines.forEach(engine -> ranks.own.add(await(engine.connect(engine.address()))));
        return ranks;
    }

    List<CompletableFuture<GpuExpertBuffer>> create(IntFunction<GpuExpertOptions> options) {
        List<CompletableFuture<GpuExpertBuffer>> forming = new ArrayList<>();
        for (int i = 0; i < teams.size(); i++) {
            forming.add(GpuExpertBuffer.create(teams.get(i), device(i), options.apply(i)));
        }
        return forming;
    }

    /** Waits for buffers that are to be closed with the ranks. */
    void adopt(List<CompletableFuture<GpuExpertBuffer>> forming) {
        forming.forEach(each -> buffers.add(await(each)));
    }

    int size() {
        return teams.size();
    }

    String device(int rank) {
        return devices.get(rank % devices.size());
    }

    TransferEngine engine(int rank) {
        return engines.get(rank);
    }

    Team team(int rank) {
        return teams.get(rank);
    }

    GpuExpertBuffer buffer(int rank) {
        return buffers.get(rank);
    }

    /** Memory of a rank's GPU. */
    MemoryRegion region(int rank, long bytes) {
        return engines.get(rank)
                .allocate(Math.max(1, bytes), RegionOptions.readWrite().on(MemoryKind.CUDA, device(rank)));
    }

    MemoryRegion hostRegion(int rank, long bytes) {
        return engines.get(rank).allocate(Math.max(1, bytes), RegionOptions.local());
    }

    /** A region's bytes in memory of the host. */
    GpuBytes bytes(int rank, MemoryRegion region) {
        return new GpuBytes(engines.get(rank), own.get(rank), region);
    }

    /** Starts a call, which ends with null, or an error. */
    CompletableFuture<@Nullable Void> start(int rank, LongSupplier call) {
        CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
        try {
            long number = call.getAsLong();
            SignalWait wait = buffer(rank).onReached((armed, value, error) -> {
                end(end, error);
                armed.close();
            });
            wait.arm(number);
        } catch (SluiceException e) {
            end.completeExceptionally(e);
        }
        return end;
    }

    /** Starts a call of each rank, and waits until all have ended. */
    void run(IntFunction<LongSupplier> calls) {
        List<CompletableFuture<@Nullable Void>> ends = new ArrayList<>();
        for (int rank = 0; rank < size(); rank++) {
            ends.add(start(rank, calls.apply(rank)));
        }
        ends.forEach(Patience::await);
    }

    /** What a call or a formation has failed of. */
    static Throwable failure(CompletableFuture<?> ended) {
        Throwable error = ended.handle((value, thrown) -> thrown)
                .orTimeout(Patience.BOUND.toMillis(), TimeUnit.MILLISECONDS)
                .join();
        return error instanceof java.util.concurrent.CompletionException && error.getCause() != null
                ? error.getCause()
                : error;
    }

    private static void end(CompletableFuture<@Nullable Void> end, @Nullable SluiceException error) {
        if (error == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(error);
        }
    }

    @Override
    public void close() {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        buffers.forEach(each -> closing.add(each.closeAsync()));
        closing.forEach(Patience::await);
        closing.clear();
        teams.forEach(team -> closing.add(team.closeAsync()));
        closing.forEach(Patience::await);
        engines.forEach(engine -> await(engine.closeAsync()));
    }

    /** A region's bytes, by transfers of its own engine to itself. */
    static final class GpuBytes {
        private final MemoryRegion host;
        private final RemoteRegion remote;

        GpuBytes(TransferEngine engine, Connection connection, MemoryRegion region) {
            host = engine.allocate(region.length(), RegionOptions.local());
            remote = await(connection.attach(region.descriptor()));
        }

        /** Memory of the host with as many bytes. */
        MemoryRegion region() {
            return host;
        }

        MemorySegment host() {
            return host.segment();
        }

        /** Brings the host's bytes to the GPU. */
        GpuBytes put() {
            move(end -> remote.connection()
                    .write(
                            host,
                            0,
                            remote,
                            0,
                            host.length(),
                            TransferOptions.defaults(),
                            (transfer, error) -> end(end, error)));
            return this;
        }

        /** Fills the GPU's memory. */
        void fill(int value) {
            host.segment().fill((byte) value);
            put();
        }

        /** Brings the GPU's bytes here. */
        MemorySegment get() {
            move(end -> remote.connection()
                    .read(
                            host,
                            0,
                            remote,
                            0,
                            host.length(),
                            TransferOptions.defaults(),
                            (transfer, error) -> end(end, error)));
            return host.segment();
        }

        private static void move(Consumer<CompletableFuture<@Nullable Void>> start) {
            CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
            start.accept(end);
            await(end);
        }
    }
}
