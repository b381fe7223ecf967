package io.sluice.reactor;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.NormalHandle;
import io.sluice.experts.NormalResult;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Expert buffers of two ranks of this process with two experts each, and the same four tokens of each rank. */
final class ReactiveExperts implements AutoCloseable {
    static final int SIZE = 2;
    static final int TOKENS = 4;
    static final DispatchOptions DISPATCH = DispatchOptions.defaults();
    private static final int EXPERTS = 4;
    private static final int HIDDEN = 128;
    private static final int TOP_K = 2;
    private static final float[] WEIGHTS = {0.5f, 0.25f};
    private static final int HALF_OF_FLOAT = 16;
    static final ExpertOptions OPTIONS = ExpertOptions.experts(EXPERTS)
            .hidden(HIDDEN)
            .maxTokensPerRank(TOKENS)
            .topK(TOP_K)
            .timeout(Patience.BOUND);

    private final ReactiveRanks ranks = ReactiveRanks.form(SIZE);
    private final List<ReactiveExpertBuffer> buffers;
    private final List<Memory> memories = new ArrayList<>();

    /** The memory of a rank. */
    record Memory(MemoryRegion x, MemoryRegion choices, MemoryRegion weights, MemoryRegion y, MemoryRegion out) {}

    ReactiveExperts() {
        buffers = Flux.range(0, SIZE)
                .flatMapSequential(rank -> ReactiveExpertBuffer.create(ranks.team(rank), OPTIONS))
                .collectList()
                .block(Patience.BOUND);
        for (int rank = 0; rank < SIZE; rank++) {
            memories.add(new Memory(
                    ranks.region(rank, (long) TOKENS * HIDDEN * Short.BYTES),
                    ranks.region(rank, (long) TOKENS * TOP_K * Long.BYTES),
                    ranks.region(rank, (long) TOKENS * TOP_K * Float.BYTES),
                    ranks.region(rank, (long) SIZE * TOKENS * HIDDEN * Short.BYTES),
                    ranks.region(rank, (long) TOKENS * HIDDEN * Short.BYTES)));
            fill(rank);
        }
    }

    private void fill(int rank) {
        Memory at = memories.get(rank);
        for (int token = 0; token < TOKENS; token++) {
            for (int channel = 0; channel < HIDDEN; channel++) {
                short value = (short) (Float.floatToRawIntBits(value(rank, token)) >>> HALF_OF_FLOAT);
                at.x().segment().setAtIndex(ValueLayout.JAVA_SHORT, (long) token * HIDDEN + channel, value);
            }
            for (int k = 0; k < TOP_K; k++) {
                long slot = (long) token * TOP_K + k;
                at.choices().segment().setAtIndex(ValueLayout.JAVA_LONG, slot, (token + k) % EXPERTS);
                at.weights().segment().setAtIndex(ValueLayout.JAVA_FLOAT, slot, WEIGHTS[k]);
            }
        }
    }

    /** Each element of a token. */
    static float value(int rank, int token) {
        return rank * TOKENS + token + 1;
    }

    /** Each element of a token that comes back from experts that change nothing. */
    static float weighted(int rank, int token) {
        return value(rank, token) * (WEIGHTS[0] + WEIGHTS[1]);
    }

    /** How many ranks a token goes to: each has two experts. */
    static int ranksOf(int token) {
        return token % 2 == 0 ? 1 : 2;
    }

    ReactiveRanks ranks() {
        return ranks;
    }

    ReactiveExpertBuffer buffer(int rank) {
        return buffers.get(rank);
    }

    Memory memory(int rank) {
        return memories.get(rank);
    }

    /** All ranks at once; results are in the order of the ranks. */
    <T> Flux<T> all(Function<Integer, ? extends Publisher<T>> onRank) {
        return ranks.all(onRank);
    }

    /** Does something on the loop of a rank, between its steps. */
    void onLoop(int rank, Runnable task) {
        ranks.team(rank).team().loop().execute(task);
    }

    Mono<LowLatencyResult> dispatch(int rank) {
        Memory at = memories.get(rank);
        return buffers.get(rank).lowLatencyDispatch(at.x(), 0, at.choices(), 0, TOKENS, DISPATCH);
    }

    Mono<ReactiveReceiveHook<LowLatencyResult>> dispatchHooked(int rank) {
        Memory at = memories.get(rank);
        return buffers.get(rank).lowLatencyDispatchHooked(at.x(), 0, at.choices(), 0, TOKENS, DISPATCH);
    }

    /** Sends back what has arrived. */
    Mono<MemoryRegion> combine(int rank, LowLatencyResult result) {
        Memory at = memories.get(rank);
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
    }

    Mono<ReactiveReceiveHook<MemoryRegion>> combineHooked(int rank, LowLatencyResult result) {
        Memory at = memories.get(rank);
        return buffers.get(rank)
                .lowLatencyCombineHooked(
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
    }

    /** A dispatch, and a combine of what has arrived. */
    Mono<MemoryRegion> round(int rank) {
        return dispatch(rank).flatMap(result -> combine(rank, result).doOnNext(sums -> result.close()));
    }

    /** A combine of normal mode that sends back what has arrived; closes the result. */
    Mono<MemoryRegion> combineNormal(int rank, NormalResult result) {
        Memory at = memories.get(rank);
        MemorySegment.copy(result.tokens(), 0, at.y().segment(), 0, (long) result.received() * HIDDEN * Short.BYTES);
        NormalHandle handle = result.handle();
        result.close();
        return buffers.get(rank).combine(handle, at.y(), 0, null, 0, at.out(), 0, null);
    }

    /** The last elements of the sums of a rank. */
    List<Float> sums(int rank) {
        MemorySegment out = memories.get(rank).out().segment();
        return IntStream.range(0, TOKENS)
                .mapToObj(token -> Float.intBitsToFloat(
                        out.getAtIndex(ValueLayout.JAVA_SHORT, (token + 1L) * HIDDEN - 1) << HALF_OF_FLOAT))
                .toList();
    }

    @Override
    public void close() {
        Flux.fromIterable(buffers).flatMap(ReactiveExpertBuffer::close).blockLast(Patience.BOUND);
        ranks.close();
    }
}
