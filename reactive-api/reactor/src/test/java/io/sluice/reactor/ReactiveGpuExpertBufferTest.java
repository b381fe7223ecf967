package io.sluice.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertCallKind;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.cuda.GpuCombine;
import io.sluice.experts.cuda.GpuDispatch;
import io.sluice.experts.cuda.GpuExpertBuffer;
import io.sluice.experts.cuda.GpuExpertCallMetrics;
import io.sluice.experts.cuda.GpuExpertGraph;
import io.sluice.experts.cuda.GpuExpertOptions;
import io.sluice.experts.cuda.GpuNormalDispatch;
import io.sluice.experts.cuda.GpuNormalLayout;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Expert buffers on GPUs with Reactor, on the software GPU. Two ranks have an expert each, and send it the other's token. */
class ReactiveGpuExpertBufferTest {
    private static final int HIDDEN = 128;
    private static final int HALF_OF_FLOAT = 16;
    private static final ExpertOptions OPTIONS =
            ExpertOptions.experts(2).hidden(HIDDEN).maxTokensPerRank(1).topK(1).timeout(Patience.BOUND);

    /** Of a rank. */
    private record Memory(MemoryRegion x, MemoryRegion choices, MemoryRegion weights, MemoryRegion out) {
        static Memory of(ReactiveGpus gpus, int rank) {
            return new Memory(
                    gpus.region(rank, HIDDEN * 2, x -> {
                        for (int i = 0; i < HIDDEN; i++) {
                            short value = (short) (Float.floatToRawIntBits(rank + 1) >>> HALF_OF_FLOAT);
                            x.setAtIndex(ValueLayout.JAVA_SHORT, i, value);
                        }
                    }),
                    gpus.region(rank, 8, choices -> choices.set(ValueLayout.JAVA_LONG, 0, 1 - rank)),
                    gpus.region(rank, 4, weights -> weights.set(ValueLayout.JAVA_FLOAT, 0, 0.5f)),
                    gpus.region(rank, HIDDEN * 2, out -> out.fill((byte) 0)));
        }

        float last(ReactiveGpus gpus, int rank) {
            return Float.intBitsToFloat(
                    gpus.read(rank, out).getAtIndex(ValueLayout.JAVA_SHORT, HIDDEN - 1) << HALF_OF_FLOAT);
        }
    }

    private static List<ReactiveGpuExpertBuffer> create(ReactiveGpus gpus, ExpertOptions options) {
        return gpus.ranks()
                .all(rank -> ReactiveGpuExpertBuffer.create(
                        gpus.ranks().team(rank),
                        ReactiveGpus.GPU,
                        GpuExpertOptions.of(options).withBlocks(4).withNormalBlocks(4)))
                .collectList()
                .block(Patience.BOUND);
    }

    private static void close(List<ReactiveGpuExpertBuffer> buffers) {
        Flux.fromIterable(buffers).flatMap(ReactiveGpuExpertBuffer::close).blockLast(Patience.BOUND);
    }

    private static Mono<MemoryRegion> combine(ReactiveGpuExpertBuffer buffer, Memory at, LowLatencyResult result) {
        return buffer.lowLatencyCombine(
                        result,
                        result.tokens(),
                        0,
                        at.choices(),
                        0,
                        at.weights(),
                        0,
                        at.out(),
                        0,
                        CombineOptions.defaults())
                .doOnNext(sums -> result.close());
    }

    @Test
    void callsAndHooksBringTokensThereAndBack() {
        try (ReactiveGpus gpus = new ReactiveGpus()) {
            List<ReactiveGpuExpertBuffer> buffers = create(gpus, OPTIONS);
            List<Memory> memories = List.of(Memory.of(gpus, 0), Memory.of(gpus, 1));
            DispatchOptions options = DispatchOptions.defaults().withFormat(DispatchFormat.BF16);
            StepVerifier.create(gpus.ranks().all(rank -> {
                        Memory at = memories.get(rank);
                        ReactiveGpuExpertBuffer buffer = buffers.get(rank);
                        return buffer.lowLatencyDispatch(at.x(), 0, at.choices(), 0, 1, options)
                                .flatMap(result -> combine(buffer, at, result));
                    }))
                    .expectNextCount(2)
                    .expectComplete()
                    .verify(Patience.BOUND);
            assertThat(memories.get(1).last(gpus, 1)).isEqualTo(1);
            StepVerifier.create(gpus.ranks().all(rank -> {
                        Memory at = memories.get(rank);
                        ReactiveGpuExpertBuffer buffer = buffers.get(rank);
                        return buffer.lowLatencyDispatchHooked(at.x(), 0, at.choices(), 0, 1, options)
                                .flatMap(ReactiveReceiveHook::complete)
                                .flatMap(result -> combine(buffer, at, result));
                    }))
                    .expectNextCount(2)
                    .expectComplete()
                    .verify(Patience.BOUND);
            assertThat(memories.get(0).last(gpus, 0)).isEqualTo(0.5f);
            GpuExpertCallMetrics combines =
                    buffers.getFirst().buffer().metrics().calls().get(ExpertCallKind.LOW_LATENCY_COMBINE.ordinal());
            assertThat(combines.ended()).isEqualTo(2);
            close(buffers);
        }
    }

    @Test
    void preparedCallsRunInWholeInHalvesAndInGraphs() {
        try (ReactiveGpus gpus = new ReactiveGpus()) {
            List<ReactiveGpuExpertBuffer> buffers = create(gpus, OPTIONS);
            List<Memory> memories = List.of(Memory.of(gpus, 0), Memory.of(gpus, 1));
            List<GpuDispatch> dispatches = new ArrayList<>();
            List<GpuCombine> combines = new ArrayList<>();
            List<GpuExpertGraph> graphs = new ArrayList<>();
            List<GpuNormalLayout> layouts = new ArrayList<>();
            List<GpuNormalDispatch> normal = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                GpuExpertBuffer buffer = buffers.get(rank).buffer();
                Memory at = memories.get(rank);
                GpuDispatch dispatch = buffer.lowLatency()
                        .prepareDispatch(
                                at.x(),
                                0,
                                at.choices(),
                                0,
                                1,
                                DispatchOptions.defaults().withFormat(DispatchFormat.BF16));
                dispatches.add(dispatch);
                combines.add(buffer.lowLatency()
                        .prepareCombine(
                                dispatch.result(),
                                dispatch.result().tokens(),
                                0,
                                at.choices(),
                                0,
                                at.weights(),
                                0,
                                at.out(),
                                0,
                                CombineOptions.defaults()));
                graphs.add(
                        buffer.graph().call(dispatch).call(combines.get(rank)).build());
                layouts.add(buffer.normalMode().prepareLayout(at.choices(), 0, 1));
                normal.add(buffer.normalMode()
                        .prepareDispatch(
                                at.x(),
                                0,
                                at.choices(),
                                0,
                                at.weights(),
                                0,
                                layouts.get(rank),
                                NormalOptions.defaults()));
            }
            StepVerifier.create(gpus.ranks().all(rank -> {
                        ReactiveGpuExpertBuffer buffer = buffers.get(rank);
                        return buffer.send(dispatches.get(rank))
                                .flatMap(buffer::receive)
                                .then(buffer.run(combines.get(rank)))
                                .then(buffer.run(graphs.get(rank)).repeat(2).then())
                                .then(buffer.run(layouts.get(rank)))
                                .then(buffer.run(normal.get(rank)))
                                .map(dispatch -> dispatch.result().received());
                    }))
                    .expectNext(1, 1)
                    .expectComplete()
                    .verify(Patience.BOUND);
            assertThat(memories.get(0).last(gpus, 0)).isEqualTo(0.5f);
            // it was not dispatched
            StepVerifier.create(buffers.getFirst().run(combines.getFirst()))
                    .expectError(IllegalStateException.class)
                    .verify(Patience.BOUND);
            close(buffers);
        }
    }

    @Test
    @Tag("soak")
    void aRankThatDoesNotComeIsATypedError() {
        try (ReactiveGpus gpus = new ReactiveGpus()) {
            List<ReactiveGpuExpertBuffer> buffers = create(gpus, OPTIONS.timeout(Duration.ofMillis(200)));
            Memory at = Memory.of(gpus, 0);
            StepVerifier.create(buffers.getFirst()
                            .lowLatencyDispatch(at.x(), 0, at.choices(), 0, 1, DispatchOptions.defaults()))
                    .expectError(CollectiveTimeoutException.class)
                    .verify(Patience.BOUND);
            close(buffers);
        }
    }
}
