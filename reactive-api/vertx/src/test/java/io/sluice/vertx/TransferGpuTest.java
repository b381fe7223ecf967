package io.sluice.vertx;

import static io.sluice.vertx.Bounded.await;
import static io.sluice.vertx.Bounded.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamOptions;
import io.sluice.collectives.cuda.GpuCollective;
import io.sluice.collectives.cuda.GpuCollectiveGraph;
import io.sluice.collectives.cuda.GpuTeamOptions;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.cuda.GpuCombine;
import io.sluice.experts.cuda.GpuDispatch;
import io.sluice.experts.cuda.GpuExpertGraph;
import io.sluice.experts.cuda.GpuExpertOptions;
import io.sluice.experts.cuda.GpuNormalDispatch;
import io.sluice.experts.cuda.GpuNormalLayout;
import io.sluice.testkit.Patience;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** GPU teams and expert buffers on GPUs of two clients of one Vert.x, on the software GPU. */
@ExtendWith(OwnVertx.class)
class TransferGpuTest {
    private static final int SIZE = 2;
    private static final int HIDDEN = 128;
    private static final int HALF_OF_FLOAT = 16;
    private static final String GPU = GpuInfo.all().getFirst().id();
    private static final GpuTeamOptions OPTIONS =
            GpuTeamOptions.defaults().withTimeout(Patience.BOUND).withBlocks(4);
    private static final ExpertOptions EXPERTS = ExpertOptions.experts(SIZE)
            .hidden(HIDDEN)
            .maxTokensPerRank(1)
            .topK(1)
            .timeout(Patience.BOUND);

    private final List<TransferClient> clients = new ArrayList<>();
    private final List<TransferTeam> teams = new ArrayList<>();

    private void form(Vertx vertx) throws Exception {
        for (int rank = 0; rank < SIZE; rank++) {
            clients.add(TransferClient.create(
                    vertx,
                    new TransferClientOptions()
                            .configureEngine(
                                    engine -> Target.patient(engine).transports(List.of("shm", "tcp", "cuda")))));
        }
        teams.addAll(all(rank -> TransferTeam.form(
                clients.get(rank),
                TeamOptions.rank(rank)
                        .of(SIZE)
                        .rendezvous(clients.getFirst().address())
                        .timeout(Patience.BOUND)
                        .formTimeout(Patience.BOUND))));
    }

    private static <T> List<T> all(IntFunction<Future<T>> onRank) throws Exception {
        List<Future<T>> calls = new ArrayList<>();
        for (int rank = 0; rank < SIZE; rank++) {
            calls.add(onRank.apply(rank));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> call : calls) {
            results.add(await(call));
        }
        return results;
    }

    private MemoryRegion region(int rank, long bytes, Consumer<MemorySegment> fill) throws Exception {
        TransferClient client = clients.get(rank);
        MemoryRegion region =
                await(client.allocate(bytes, RegionOptions.readWrite().on(MemoryKind.CUDA, GPU)));
        MemoryRegion host = await(client.allocate(bytes, RegionOptions.local()));
        fill.accept(host.segment());
        TransferConnection own = await(client.connect(client.address()));
        await(own.write(host, await(own.attach(region.descriptor())), 0));
        return region;
    }

    private MemorySegment read(int rank, MemoryRegion region) throws Exception {
        TransferClient client = clients.get(rank);
        MemoryRegion host = await(client.allocate(region.length(), RegionOptions.local()));
        TransferConnection own = await(client.connect(client.address()));
        await(own.read(host, await(own.attach(region.descriptor())), 0));
        return host.segment();
    }

    // ---- collectives ----

    private List<TransferGpuTeam> formGpus(GpuTeamOptions options) throws Exception {
        return all(rank -> TransferGpuTeam.form(teams.get(rank), GPU, options));
    }

    @Test
    void collectivesAndGraphsRunOnTheCallersContext(Vertx vertx) throws Exception {
        form(vertx);
        List<TransferGpuTeam> gpus = formGpus(OPTIONS);
        List<MemoryRegion> regions = new ArrayList<>();
        for (int rank = 0; rank < SIZE; rank++) {
            int value = rank + 1;
            regions.add(region(rank, 64, ints -> ints.set(ValueLayout.JAVA_INT, 0, value)));
        }
        List<TeamRegion> shared = all(rank -> gpus.get(rank).share(regions.get(rank)));
        List<GpuCollective> sums = new ArrayList<>();
        List<GpuCollectiveGraph> graphs = new ArrayList<>();
        for (int rank = 0; rank < SIZE; rank++) {
            TeamRegion region = shared.get(rank);
            sums.add(gpus.get(rank).team().allReduce(region, 0, region, 0, 16, ElementType.INT32, ReduceOperation.SUM));
            graphs.add(gpus.get(rank).team().graph(Collections.nCopies(2, sums.get(rank))));
        }
        CompletableFuture<Boolean> same = new CompletableFuture<>();
        Context context = vertx.getOrCreateContext();
        context.runOnContext(nothing -> gpus.get(0)
                .run(sums.get(0))
                .onComplete(ended -> same.complete(ended.succeeded() && context.equals(Vertx.currentContext()))));
        assertThat(await(gpus.get(1).run(sums.get(1)))).isSameAs(sums.get(1));
        assertThat(await(same)).isTrue();
        all(rank -> gpus.get(rank).run(graphs.get(rank)));
        assertThat(read(1, regions.get(1)).get(ValueLayout.JAVA_INT, 0)).isEqualTo(12);
        all(rank -> gpus.get(rank).close());
        assertThat(failure(gpus.get(0).run(sums.get(0)))).isNotNull();
    }

    @Test
    @Tag("soak")
    void errorsAreTypedAndAClientClosesItsGpuTeam(Vertx vertx) throws Exception {
        form(vertx);
        List<TransferGpuTeam> gpus = formGpus(OPTIONS.withTimeout(Duration.ofMillis(200)));
        assertThat(failure(gpus.getFirst().run(gpus.getFirst().team().barrier())))
                .isInstanceOf(CollectiveTimeoutException.class);
        await(clients.get(1).close());
        await(gpus.get(1).team().stream().released());
    }

    // ---- experts ----

    /** Each rank's token goes to the other's expert and comes back with half its weight. */
    private record Memory(MemoryRegion x, MemoryRegion choices, MemoryRegion weights, MemoryRegion out) {}

    private Memory memory(int rank) throws Exception {
        return new Memory(
                region(rank, HIDDEN * 2, x -> {
                    for (int i = 0; i < HIDDEN; i++) {
                        short value = (short) (Float.floatToRawIntBits(rank + 1) >>> HALF_OF_FLOAT);
                        x.setAtIndex(ValueLayout.JAVA_SHORT, i, value);
                    }
                }),
                region(rank, 8, choices -> choices.set(ValueLayout.JAVA_LONG, 0, 1 - rank)),
                region(rank, 4, weights -> weights.set(ValueLayout.JAVA_FLOAT, 0, 0.5f)),
                region(rank, HIDDEN * 2, out -> out.fill((byte) 0)));
    }

    private float last(int rank, Memory memory) throws Exception {
        return Float.intBitsToFloat(
                read(rank, memory.out()).getAtIndex(ValueLayout.JAVA_SHORT, HIDDEN - 1) << HALF_OF_FLOAT);
    }

    private List<TransferGpuExpertBuffer> create() throws Exception {
        return all(rank -> TransferGpuExpertBuffer.create(
                teams.get(rank), GPU, GpuExpertOptions.of(EXPERTS).withBlocks(4).withNormalBlocks(4)));
    }

    @Test
    @Tag("soak")
    void expertCallsAndHooksBringTokensThereAndBack(Vertx vertx) throws Exception {
        form(vertx);
        List<TransferGpuExpertBuffer> buffers = create();
        List<Memory> memories = List.of(memory(0), memory(1));
        DispatchOptions options = DispatchOptions.defaults().withFormat(DispatchFormat.BF16);
        List<LowLatencyResult> results = all(rank -> {
            Memory at = memories.get(rank);
            return buffers.get(rank)
                    .lowLatencyDispatchHooked(at.x(), 0, at.choices(), 0, 1, options)
                    .compose(TransferReceiveHook::complete);
        });
        all(rank -> {
            Memory at = memories.get(rank);
            LowLatencyResult result = results.get(rank);
            return buffers.get(rank)
                    .lowLatencyCombine(
                            result,
                            result.tokens(),
                            0,
                            at.choices(),
                            0,
                            at.weights(),
                            0,
                            at.out(),
                            0,
                            CombineOptions.defaults());
        });
        assertThat(last(1, memories.get(1))).isEqualTo(1);
        all(rank -> buffers.get(rank).close());
    }

    @Test
    void preparedExpertCallsRunInWholeInHalvesAndInGraphs(Vertx vertx) throws Exception {
        form(vertx);
        List<TransferGpuExpertBuffer> buffers = create();
        List<Memory> memories = List.of(memory(0), memory(1));
        List<GpuDispatch> dispatches = new ArrayList<>();
        List<GpuCombine> combines = new ArrayList<>();
        List<GpuExpertGraph> graphs = new ArrayList<>();
        List<GpuNormalLayout> layouts = new ArrayList<>();
        List<GpuNormalDispatch> normal = new ArrayList<>();
        for (int rank = 0; rank < SIZE; rank++) {
            Memory at = memories.get(rank);
            var buffer = buffers.get(rank).buffer();
            GpuDispatch dispatch = buffer.lowLatency()
                    .prepareDispatch(
                            at.x(),
                            0,
                            at.choices(),
                            0,
                            1,
                            DispatchOptions.defaults().withFormat(DispatchFormat.BF16));
            dispatches.add(dispatch);
            LowLatencyResult result = dispatch.result();
            combines.add(buffer.lowLatency()
                    .prepareCombine(
                            result,
                            result.tokens(),
                            0,
                            at.choices(),
                            0,
                            at.weights(),
                            0,
                            at.out(),
                            0,
                            CombineOptions.defaults()));
            graphs.add(buffer.graph().call(dispatch).call(combines.get(rank)).build());
            layouts.add(buffer.normalMode().prepareLayout(at.choices(), 0, 1));
            normal.add(buffer.normalMode()
                    .prepareDispatch(
                            at.x(), 0, at.choices(), 0, at.weights(), 0, layouts.get(rank), NormalOptions.defaults()));
        }
        all(rank -> {
            TransferGpuExpertBuffer buffer = buffers.get(rank);
            return buffer.send(dispatches.get(rank))
                    .compose(buffer::receive)
                    .compose(sent -> buffer.run(combines.get(rank)))
                    .compose(combined -> buffer.run(graphs.get(rank)))
                    .compose(again -> buffer.run(layouts.get(rank)))
                    .compose(laidOut -> buffer.run(normal.get(rank)));
        });
        assertThat(last(0, memories.get(0))).isEqualTo(0.5f);
        assertThat(normal.getFirst().result().received()).isEqualTo(1);
        assertThat(failure(buffers.getFirst().run(combines.getFirst()))).isInstanceOf(IllegalStateException.class);
        await(clients.get(0).close());
        await(buffers.get(0).buffer().stream().released());
    }
}
