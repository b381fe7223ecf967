package io.sluice.vertx;

import static io.sluice.vertx.Bounded.await;
import static io.sluice.vertx.Bounded.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.TeamOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.ExpertsLostException;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.NormalHandle;
import io.sluice.experts.NormalLayout;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.NormalResult;
import io.sluice.experts.TooManyLiveResultsException;
import io.sluice.testkit.Patience;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Expert buffers of two clients of one Vert.x, with an expert each. All tokens go to both. */
@ExtendWith(OwnVertx.class)
class TransferExpertBufferTest {
    private static final int SIZE = 2;
    private static final int TOKENS = 3;
    private static final int HIDDEN = 128;
    private static final int HALF_OF_FLOAT = 16;
    private static final ExpertOptions OPTIONS = ExpertOptions.experts(SIZE)
            .hidden(HIDDEN)
            .maxTokensPerRank(TOKENS)
            .topK(SIZE)
            .timeout(Patience.BOUND);

    private final List<TransferClient> clients = new ArrayList<>();
    private final List<TransferTeam> teams = new ArrayList<>();
    private final List<TransferExpertBuffer> buffers = new ArrayList<>();
    private final List<Memory> memories = new ArrayList<>();

    private record Memory(
            MemoryRegion x, MemoryRegion choices, MemoryRegion weights, MemoryRegion y, MemoryRegion out) {}

    private void create(Vertx vertx) throws Exception {
        for (int rank = 0; rank < SIZE; rank++) {
            clients.add(TransferClient.create(
                    vertx,
                    new TransferClientOptions()
                            .configureEngine(engine -> Target.patient(engine).transports(List.of("shm")))));
        }
        teams.addAll(all(rank -> TransferTeam.form(
                clients.get(rank),
                TeamOptions.rank(rank)
                        .of(SIZE)
                        .rendezvous(clients.getFirst().address())
                        .timeout(Patience.BOUND)
                        .formTimeout(Patience.BOUND))));
        buffers.addAll(all(rank -> TransferExpertBuffer.create(teams.get(rank), OPTIONS)));
        for (int rank = 0; rank < SIZE; rank++) {
            memories.add(memory(rank));
        }
    }

    private MemoryRegion region(int rank, long bytes) throws Exception {
        return await(clients.get(rank).allocate(bytes, RegionOptions.local()));
    }

    private Memory memory(int rank) throws Exception {
        long row = (long) HIDDEN * Short.BYTES;
        Memory memory = new Memory(
                region(rank, TOKENS * row),
                region(rank, (long) TOKENS * SIZE * Long.BYTES),
                region(rank, (long) TOKENS * SIZE * Float.BYTES),
                region(rank, SIZE * TOKENS * row),
                region(rank, TOKENS * row));
        for (int i = 0; i < TOKENS * HIDDEN; i++) {
            short value = (short) (Float.floatToRawIntBits(value(rank)) >>> HALF_OF_FLOAT);
            memory.x.segment().setAtIndex(ValueLayout.JAVA_SHORT, i, value);
        }
        for (int slot = 0; slot < TOKENS * SIZE; slot++) {
            memory.choices.segment().setAtIndex(ValueLayout.JAVA_LONG, slot, slot % SIZE);
            memory.weights.segment().setAtIndex(ValueLayout.JAVA_FLOAT, slot, 0.5f);
        }
        return memory;
    }

    private static float value(int rank) {
        return 3 + rank;
    }

    private float lastSum(int rank) {
        return Float.intBitsToFloat(
                memories.get(rank).out.segment().getAtIndex(ValueLayout.JAVA_SHORT, TOKENS * HIDDEN - 1L)
                        << HALF_OF_FLOAT);
    }

    private void sumsAre(float first, float second) {
        assertThat(List.of(lastSum(0), lastSum(1))).containsExactly(first, second);
    }

    private static <T> List<T> all(IntFunction<Future<T>> onRank) throws Exception {
        List<T> results = new ArrayList<>();
        for (Future<T> each : IntStream.range(0, SIZE).mapToObj(onRank).toList()) {
            results.add(await(each));
        }
        return results;
    }

    private Future<LowLatencyResult> dispatch(int rank) {
        Memory at = memories.get(rank);
        return buffers.get(rank).lowLatencyDispatch(at.x, 0, at.choices, 0, TOKENS, DispatchOptions.defaults());
    }

    private Future<TransferReceiveHook<LowLatencyResult>> dispatchHooked(int rank) {
        Memory at = memories.get(rank);
        return buffers.get(rank).lowLatencyDispatchHooked(at.x, 0, at.choices, 0, TOKENS, DispatchOptions.defaults());
    }

    private Future<MemoryRegion> combine(int rank, LowLatencyResult result) {
        Memory at = memories.get(rank);
        return buffers.get(rank)
                .lowLatencyCombine(
                        result, result.tokens(), 0, at.choices, 0, at.weights, 0, at.out, 0, CombineOptions.defaults());
    }

    private Future<TransferReceiveHook<MemoryRegion>> combineHooked(int rank, LowLatencyResult result) {
        Memory at = memories.get(rank);
        return buffers.get(rank)
                .lowLatencyCombineHooked(
                        result, result.tokens(), 0, at.choices, 0, at.weights, 0, at.out, 0, CombineOptions.defaults());
    }

    @Test
    void tokensGoToTheirExpertsAndComeBack(Vertx vertx) throws Exception {
        create(vertx);
        List<LowLatencyResult> results = all(this::dispatch);
        assertThat(results).allSatisfy(result -> assertThat(result.count(0)).isEqualTo(SIZE * TOKENS));
        assertThat(all(rank -> combine(rank, results.get(rank))))
                .containsExactly(memories.get(0).out, memories.get(1).out);
        results.forEach(LowLatencyResult::close);
        sumsAre(value(0), value(1));
        assertThat(buffers.getFirst().buffer().options()).isEqualTo(OPTIONS);
        assertThat(buffers.getFirst().toString()).contains("expert buffer");
    }

    @Test
    void withAHookACallEndsWhenItsSendsArePosted(Vertx vertx) throws Exception {
        create(vertx);
        // the other rank has not called
        TransferReceiveHook<LowLatencyResult> hook = await(dispatchHooked(0));
        LowLatencyResult there = await(dispatch(1));
        LowLatencyResult here = await(hook.complete());
        assertThat(failure(hook.complete())).isInstanceOf(IllegalStateException.class);

        TransferReceiveHook<MemoryRegion> back = await(combineHooked(0, here));
        await(combine(1, there));
        await(back.complete());
        sumsAre(value(0), value(1));
        here.close();
        there.close();
    }

    @Test
    void normalModeBringsEachTokenOnceToARank(Vertx vertx) throws Exception {
        create(vertx);
        List<NormalResult> results = all(rank -> {
            Memory at = memories.get(rank);
            NormalLayout layout = buffers.get(rank).layout(at.choices, 0, TOKENS, null);
            return buffers.get(rank).dispatch(at.x, 0, at.choices, 0, at.weights, 0, layout, NormalOptions.defaults());
        });
        List<NormalHandle> handles = results.stream().map(NormalResult::handle).toList();
        assertThat(all(rank -> combine(rank, results.get(rank)))).hasSize(SIZE);
        // each of both ranks sends it back
        sumsAre(SIZE * value(0), SIZE * value(1));
        List<NormalResult> again = all(rank ->
                buffers.get(rank).dispatchAgain(memories.get(rank).x, 0, handles.get(rank), NormalOptions.defaults()));
        assertThat(again).allSatisfy(result -> {
            assertThat(result.received()).isEqualTo(SIZE * TOKENS);
            result.close();
        });
    }

    private Future<MemoryRegion> combine(int rank, NormalResult result) {
        Memory at = memories.get(rank);
        MemorySegment.copy(result.tokens(), 0, at.y.segment(), 0, at.y.length());
        NormalHandle handle = result.handle();
        result.close();
        return buffers.get(rank).combine(handle, at.y, 0, null, 0, at.out, 0, null);
    }

    @Test
    void futuresCompleteOnTheCallersContext(Vertx vertx) throws Exception {
        create(vertx);
        Context context = vertx.getOrCreateContext();
        CompletableFuture<Boolean> same = new CompletableFuture<>();
        context.runOnContext(nothing -> dispatchHooked(0)
                .compose(TransferReceiveHook::complete)
                .onComplete(ended -> same.complete(ended.succeeded() && context.equals(Vertx.currentContext()))));
        await(dispatch(1));
        assertThat(Patience.await(same)).isTrue();
    }

    @Test
    void errorsAreThoseOfTheEngine(Vertx vertx) throws Exception {
        create(vertx);
        Memory at = memories.getFirst();
        assertThat(failure(buffers.getFirst()
                        .lowLatencyDispatch(at.x, 8, at.choices, 0, TOKENS, DispatchOptions.defaults())))
                .isInstanceOf(IndexOutOfBoundsException.class);
        List<LowLatencyResult> first = all(this::dispatch);
        List<LowLatencyResult> second = all(this::dispatch);
        assertThat(failure(dispatch(0))).isInstanceOf(TooManyLiveResultsException.class);
        first.forEach(LowLatencyResult::close);
        second.forEach(LowLatencyResult::close);
        Future<LowLatencyResult> pending = dispatch(0);
        await(buffers.get(1).close());
        assertThat(failure(pending)).isInstanceOf(ExpertsLostException.class);
        assertThat(failure(dispatch(1))).isInstanceOf(ExpertBufferClosedException.class);
    }

    @Test
    void aBufferIsClosedWithItsClient(Vertx vertx) throws Exception {
        create(vertx);
        Future<LowLatencyResult> pending = dispatch(0);
        await(clients.get(1).close());
        assertThat(failure(pending)).isInstanceOf(ExpertsLostException.class);
        await(buffers.get(0).close());
    }
}
