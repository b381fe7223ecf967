package io.sluice.experts.cuda;

import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.Team;
import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.ExpertsLostException;
import io.sluice.experts.NormalOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A rank of a buffer on GPUs that dispatches and combines until that fails. The properties {@code tokens}, {@code hidden}, {@code experts}
 * and {@code topk} say how much.
 */
final class ExpertRounds implements AutoCloseable {
    static final List<String> PROPERTIES = List.of("tokens", "hidden", "experts", "topk");
    static final int EXPERTS = Integer.getInteger("experts", 8);

    private static final int TOKENS = Integer.getInteger("tokens", 16);
    private static final int HIDDEN = Integer.getInteger("hidden", 512);
    private static final int TOP_K = Integer.getInteger("topk", 2);
    /** Started before the first is waited for, so that GPUs are hardly ever idle. */
    private static final int ROUNDS_AT_ONCE = 3;
    // longer than any test: that a rank is lost ends kernels, and no time-out
    private static final Duration ENDLESS = Duration.ofDays(1);

    /** How rounds are started. */
    enum Mode {
        LOW_LATENCY,
        GRAPH,
        NORMAL
    }

    private final TransferEngine engine;
    private final Connection own;
    private final String gpu;
    private final GpuExpertBuffer buffer;
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final LongSupplier start;
    private final SignalWait wait;
    private final CompletableFuture<Void> failed = new CompletableFuture<>();
    private volatile @Nullable CountDownLatch rounds;

    ExpertRounds(TransferEngine engine, Team team, String gpu, Mode mode) {
        this.engine = engine;
        this.own = await(engine.connect(engine.address()));
        this.gpu = gpu;
        ExpertOptions options = ExpertOptions.experts(EXPERTS)
                .hidden(HIDDEN)
                .maxTokensPerRank(TOKENS)
                .topK(TOP_K)
                .lowLatency(mode != Mode.NORMAL)
                .normalMode(mode == Mode.NORMAL)
                .timeout(ENDLESS);
        buffer = await(GpuExpertBuffer.create(team, gpu, GpuExpertOptions.of(options)), Patience.longBound());
        start = mode == Mode.NORMAL ? normal() : lowLatency(mode == Mode.GRAPH);
        wait = buffer.onReached((armed, number, error) -> next(error));
    }

    private MemoryRegion region(long bytes) {
        MemoryRegion made = engine.allocate(bytes, RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
        regions.add(made);
        return made;
    }

    private MemoryRegion rows(long count) {
        return region(count * HIDDEN * Short.BYTES);
    }

    /** Each token goes to several experts, those of all tokens to all ranks. */
    private MemoryRegion choices() {
        MemoryRegion choices = region((long) TOKENS * TOP_K * Long.BYTES);
        GpuExpertRanks.GpuBytes bytes = new GpuExpertRanks.GpuBytes(engine, own, choices);
        for (int i = 0; i < TOKENS * TOP_K; i++) {
            long expert = (long) (i % TOP_K) * (EXPERTS / TOP_K) + i / TOP_K % (EXPERTS / TOP_K);
            bytes.host().setAtIndex(ValueLayout.JAVA_LONG, i, expert);
        }
        bytes.put();
        regions.add(bytes.region());
        return choices;
    }

    private LongSupplier lowLatency(boolean isGraph) {
        MemoryRegion choices = choices();
        GpuDispatch dispatch = buffer.lowLatency()
                .prepareDispatch(
                        rows(TOKENS),
                        0,
                        choices,
                        0,
                        TOKENS,
                        DispatchOptions.defaults().withFormat(DispatchFormat.BF16));
        GpuCombine combine = buffer.lowLatency()
                .prepareCombine(
                        dispatch.result(),
                        dispatch.result().combineBuffer(),
                        0,
                        choices,
                        0,
                        region((long) TOKENS * TOP_K * Float.BYTES),
                        0,
                        rows(TOKENS),
                        0,
                        CombineOptions.defaults());
        if (!isGraph) {
            return () -> {
                dispatch.startUnnumbered();
                return combine.start();
            };
        }
        GpuExpertGraph graph = buffer.graph()
                .call(dispatch)
                .call(combine)
                .call(dispatch)
                .call(combine)
                .build();
        return graph::start;
    }

    private LongSupplier normal() {
        MemoryRegion choices = choices();
        GpuNormalMode mode = buffer.normalMode();
        GpuNormalLayout layout = mode.prepareLayout(choices, 0, TOKENS);
        GpuNormalDispatch dispatch = mode.prepareDispatch(
                rows(TOKENS),
                0,
                choices,
                0,
                region((long) TOKENS * TOP_K * Float.BYTES),
                0,
                layout,
                NormalOptions.defaults());
        int ranks = buffer.team().size();
        GpuNormalCombine combine =
                mode.prepareCombine(dispatch.handle(), rows((long) ranks * TOKENS), 0, null, 0, rows(TOKENS), 0, null);
        return () -> {
            layout.startUnnumbered();
            dispatch.startUnnumbered();
            return combine.start();
        };
    }

    /** Counts further rounds, as far as they have ended. */
    void countDown(CountDownLatch latch) {
        rounds = latch;
    }

    /** Ends with the error. */
    CompletableFuture<Void> startUntilOneFails() {
        next(null);
        return failed;
    }

    private void next(@Nullable SluiceException error) {
        if (error != null) {
            failed.completeExceptionally(error);
            return;
        }
        CountDownLatch latch = rounds;
        if (latch != null) {
            latch.countDown();
        }
        try {
            long last = 0;
            for (int i = 0; i < ROUNDS_AT_ONCE; i++) {
                last = start.getAsLong();
            }
            wait.arm(last);
        } catch (RuntimeException e) {
            failed.completeExceptionally(e);
        }
    }

    void assertThatNothingStarts() {
        assertThatThrownBy(start::getAsLong).isInstanceOf(ExpertsLostException.class);
    }

    @Override
    public void close() {
        wait.close();
        await(buffer.closeAsync());
        await(own.close());
        List<CompletableFuture<Void>> closing =
                regions.stream().map(MemoryRegion::close).toList();
        closing.forEach(Patience::await);
    }
}
