package io.sluice.reactor;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.LowLatencyOperations;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.ReceiveHook;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Low-latency calls as Monos, in memory of the host or of GPUs; needs {@code sluice-experts}. For order, hooks, results, cancel and
 * threads see {@link ReactiveExpertBuffer}, and for GPUs {@code ReactiveGpuExpertBuffer}.
 */
@SuppressWarnings("exports") // Applications with experts require their module; others do without.
public abstract class ReactiveLowLatency {
    final @Nullable Scheduler scheduler;
    final AbandonedCalls abandoned;
    private final Supplier<? extends LowLatencyOperations> calls;

    ReactiveLowLatency(
            Supplier<? extends LowLatencyOperations> calls, @Nullable Scheduler scheduler, AbandonedCalls abandoned) {
        this.calls = calls;
        this.scheduler = scheduler;
        this.abandoned = abandoned;
    }

    final <T> Mono<T> signalled(Mono<T> mono) {
        return scheduler == null ? mono : mono.publishOn(scheduler);
    }

    final <R> Mono<R> called(String name, Consumer<ExpertCallback<R>> call) {
        return signalled(FutureMono.ofCall(name, () -> ExpertFuture.of(call), abandoned));
    }

    final <R> Mono<R> called(
            String name, Class<R> type, Consumer<? super R> giveBack, Consumer<ExpertCallback<R>> call) {
        return FutureMono.<R>ofResourceCall(name, () -> ExpertFuture.of(call), abandoned, scheduler)
                .doOnDiscard(type, giveBack);
    }

    private Mono<ReactiveReceiveHook<LowLatencyResult>> hookOfDispatch(
            String name, Consumer<ExpertCallback<ReceiveHook<LowLatencyResult>>> call) {
        Consumer<LowLatencyResult> giveBack = LowLatencyResult::close;
        return FutureMono.<ReactiveReceiveHook<LowLatencyResult>>ofResourceCall(
                        name,
                        () -> ExpertFuture.of(call)
                                .thenApply(hook -> new ReactiveReceiveHook<>(
                                        hook,
                                        giveBack,
                                        abandoned,
                                        end -> called("complete", LowLatencyResult.class, giveBack, end))),
                        abandoned,
                        scheduler)
                .doOnDiscard(ReactiveReceiveHook.class, hook -> hook.abandon());
    }

    private Mono<ReactiveReceiveHook<MemoryRegion>> hookOfCombine(
            String name, Consumer<ExpertCallback<ReceiveHook<MemoryRegion>>> call) {
        return FutureMono.<ReactiveReceiveHook<MemoryRegion>>ofResourceCall(
                        name,
                        () -> ExpertFuture.of(call)
                                .thenApply(hook -> new ReactiveReceiveHook<>(
                                        hook, sums -> {}, abandoned, end -> called("complete", end))),
                        abandoned,
                        scheduler)
                .doOnDiscard(ReactiveReceiveHook.class, hook -> hook.abandon());
    }

    /**
     * Brings tokens to the ranks of their experts.
     *
     * @param x the tokens of this rank: [tokens, hidden] bfloat16
     * @param xOffset where they begin, in bytes
     * @param topkIdx the experts of each token: [tokens, topK] int64, or −1 for none
     * @param topkIdxOffset where they begin, in bytes
     * @param tokens 0 to the most tokens of a rank
     * @param options format, time-out and statistics
     * @return the tokens that have arrived; to be closed
     */
    public Mono<LowLatencyResult> lowLatencyDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options) {
        return called(
                "lowLatencyDispatch",
                LowLatencyResult.class,
                LowLatencyResult::close,
                end -> calls.get().lowLatencyDispatch(x, xOffset, topkIdx, topkIdxOffset, tokens, options, end));
    }

    /**
     * Does the first half of {@link #lowLatencyDispatch}: ends when the sends are posted and the inputs may change again.
     *
     * @param x as for a dispatch in one
     * @param xOffset where they begin, in bytes
     * @param topkIdx as for a dispatch in one
     * @param topkIdxOffset where they begin, in bytes
     * @param tokens 0 to the most tokens of a rank
     * @param options format, time-out of each half, and statistics
     * @return the hook, which completes with the tokens. One that no subscriber takes is completed, and its result closed
     */
    public Mono<ReactiveReceiveHook<LowLatencyResult>> lowLatencyDispatchHooked(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options) {
        return hookOfDispatch(
                "lowLatencyDispatchHooked",
                end -> calls.get().lowLatencyDispatchHooked(x, xOffset, topkIdx, topkIdxOffset, tokens, options, end));
    }

    /**
     * Brings the results of the experts back to the ranks of the tokens, which add them with their weights.
     *
     * @param handle the result of the dispatch
     * @param y the results of this rank's experts: [L, R · M, hidden] bfloat16 in the rows of the dispatch
     * @param yOffset where they begin, in bytes
     * @param topkIdx the experts of this rank's tokens, as at the dispatch
     * @param topkIdxOffset where they begin, in bytes
     * @param weights [tokens, topK] float32
     * @param weightsOffset where they begin, in bytes
     * @param out for the sums: [tokens, hidden] bfloat16
     * @param outOffset where they begin, in bytes
     * @param options format and time-out
     * @return the region {@code out}
     */
    public Mono<MemoryRegion> lowLatencyCombine(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions options) {
        return called(
                "lowLatencyCombine",
                end -> calls.get()
                        .lowLatencyCombine(
                                handle,
                                y,
                                yOffset,
                                topkIdx,
                                topkIdxOffset,
                                weights,
                                weightsOffset,
                                out,
                                outOffset,
                                options,
                                end));
    }

    /**
     * Does the first half of {@link #lowLatencyCombine}: ends when the sends are posted and {@code y} may change again.
     *
     * @param handle the result of the dispatch
     * @param y as for a combine in one
     * @param yOffset where they begin, in bytes
     * @param topkIdx must not change until the second half has ended
     * @param topkIdxOffset where they begin, in bytes
     * @param weights must not change until the second half has ended
     * @param weightsOffset where they begin, in bytes
     * @param out for the sums
     * @param outOffset where they begin, in bytes
     * @param options format, and time-out of each half
     * @return the hook, which completes with the region {@code out}. One that no subscriber takes is completed
     */
    public Mono<ReactiveReceiveHook<MemoryRegion>> lowLatencyCombineHooked(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions options) {
        return hookOfCombine(
                "lowLatencyCombineHooked",
                end -> calls.get()
                        .lowLatencyCombineHooked(
                                handle,
                                y,
                                yOffset,
                                topkIdx,
                                topkIdxOffset,
                                weights,
                                weightsOffset,
                                out,
                                outOffset,
                                options,
                                end));
    }

    /**
     * Waits for the calls whose subscribers have cancelled before the subscription.
     *
     * @return completes when none of them can touch memory any more
     */
    public Mono<Void> quiesced() {
        return signalled(FutureMono.of("quiesced", abandoned::ended));
    }
}
