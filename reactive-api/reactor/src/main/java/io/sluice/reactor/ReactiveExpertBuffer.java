package io.sluice.reactor;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.NormalHandle;
import io.sluice.experts.NormalLayout;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.NormalResult;
import io.sluice.experts.ReceiveHook;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * An {@link ExpertBuffer} with a reactive interface; needs {@code sluice-experts}. Each call is a {@code Mono}, which emits
 * when this rank's part has ended with success. Parameters and errors are those of the methods of the same name in {@link
 * ExpertBuffer}; what a call throws is signalled by {@code onError}.
 *
 * <p><strong>Lazy and cold.</strong> A call is made when its subscriber requests the result, once for each subscriber. The
 * order of these calls must be that of the other ranks, so subscribe in order.
 *
 * <p><strong>Hooks.</strong> The Monos of {@link #lowLatencyDispatchHooked} and {@link #lowLatencyCombineHooked} end when the
 * sends are posted; {@link ReactiveReceiveHook#complete()} is the arrival. No thread waits meanwhile.
 *
 * <p><strong>Results.</strong> A subscriber closes the results that it takes; two of each mode may be open. One that has no
 * taker is closed, as {@link ReactiveTransferEngine#connect} describes for connections.
 *
 * <p><strong>Cancel.</strong> Before the call a cancel prevents it; the other ranks then wait for this one until their
 * time-out. Afterwards nothing more is emitted, but the call goes on, as the other ranks need it, also the second half of one
 * with a hook: before changing its buffers wait for {@link #quiesced()}.
 *
 * <p><strong>Threads.</strong> Signals arrive on the thread of the team's loop, which must not block, or on the scheduler of
 * {@link #withScheduler}. All methods may be called from any thread. Instances are immutable and cheap.
 */
@SuppressWarnings("exports") // Applications with experts require their module; others do without.
public final class ReactiveExpertBuffer {
    static {
        PollerThreads.declareNonBlocking();
    }

    private final ExpertBuffer buffer;
    private final @Nullable Scheduler scheduler;
    private final AbandonedCalls abandoned;

    private ReactiveExpertBuffer(ExpertBuffer buffer, @Nullable Scheduler scheduler, AbandonedCalls abandoned) {
        this.buffer = buffer;
        this.scheduler = scheduler;
        this.abandoned = abandoned;
    }

    /**
     * Wraps a buffer. Both interfaces may be used side by side.
     *
     * @param buffer the buffer
     * @return the wrapper, with signals on the team's loop
     */
    public static ReactiveExpertBuffer from(ExpertBuffer buffer) {
        return new ReactiveExpertBuffer(Objects.requireNonNull(buffer, "buffer"), null, new AbandonedCalls());
    }

    /**
     * Creates a buffer, one for each subscriber. A collective of the team. A buffer that no subscriber takes is closed.
     *
     * @param team the ranks; stays open when the buffer is closed
     * @param options how many experts there are, and how large tokens are
     * @return the buffer, with signals where the team has its own, or an error as from {@link ExpertBuffer#create}
     */
    public static Mono<ReactiveExpertBuffer> create(ReactiveTeam team, ExpertOptions options) {
        Objects.requireNonNull(options, "options");
        Scheduler scheduler = team.scheduler();
        return FutureMono.<ReactiveExpertBuffer>ofResource(
                        "create",
                        () -> ExpertBuffer.create(team.team(), options)
                                .thenApply(buffer -> new ReactiveExpertBuffer(buffer, scheduler, new AbandonedCalls())),
                        scheduler)
                .doOnDiscard(ReactiveExpertBuffer.class, unwanted -> unwanted.buffer.closeAsync());
    }

    /**
     * Returns a wrapper that signals on a scheduler, so that subscribers may block or take long.
     *
     * @param completions the scheduler that signals results, completions and errors
     * @return a new wrapper; this one is unchanged
     */
    public ReactiveExpertBuffer withScheduler(Scheduler completions) {
        return new ReactiveExpertBuffer(buffer, Objects.requireNonNull(completions, "completions"), abandoned);
    }

    /**
     * Returns the wrapped buffer, which tells options, rank and metrics.
     *
     * @return the buffer
     */
    public ExpertBuffer buffer() {
        return buffer;
    }

    private <T> Mono<T> signalled(Mono<T> mono) {
        return scheduler == null ? mono : mono.publishOn(scheduler);
    }

    private <R> Mono<R> called(String name, Consumer<ExpertCallback<R>> call) {
        return signalled(FutureMono.ofCall(name, () -> ExpertFuture.of(call), abandoned));
    }

    private <R> Mono<R> called(
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

    // ---- low latency ----

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
                end -> buffer.lowLatencyDispatch(x, xOffset, topkIdx, topkIdxOffset, tokens, options, end));
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
                end -> buffer.lowLatencyDispatchHooked(x, xOffset, topkIdx, topkIdxOffset, tokens, options, end));
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
                end -> buffer.lowLatencyCombine(
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
                end -> buffer.lowLatencyCombineHooked(
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

    // ---- normal mode ----

    /**
     * Finds out where tokens go, on the subscriber's thread and without the other ranks.
     *
     * @param topkIdx the experts of each token: [tokens, topK] int64, or −1 for none
     * @param topkIdxOffset where they begin, in bytes
     * @param tokens 0 to the most tokens of a rank
     * @param reuse a layout to fill again; {@code null} for a new one
     * @return the layout
     */
    public Mono<NormalLayout> layout(
            MemoryRegion topkIdx, long topkIdxOffset, int tokens, @Nullable NormalLayout reuse) {
        return signalled(Mono.fromCallable(() -> buffer.layout(topkIdx, topkIdxOffset, tokens, reuse)));
    }

    /**
     * Brings tokens to the ranks of their experts, each once to a rank.
     *
     * @param x the tokens of this rank: [tokens, hidden] bfloat16
     * @param xOffset where they begin, in bytes
     * @param topkIdx the experts of each token, as {@link #layout} got them
     * @param topkIdxOffset where they begin, in bytes
     * @param weights [tokens, topK] float32, which travel with the tokens
     * @param weightsOffset where they begin, in bytes
     * @param layout where the tokens go; must not change until the call is made
     * @param options format, alignment of counts, and time-out
     * @return the tokens that have arrived; to be closed. One that no subscriber takes is closed with its handle
     */
    public Mono<NormalResult> dispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            NormalLayout layout,
            NormalOptions options) {
        return called(
                "dispatch",
                NormalResult.class,
                ReactiveExpertBuffer::closeWithHandle,
                end -> buffer.dispatch(
                        x, xOffset, topkIdx, topkIdxOffset, weights, weightsOffset, layout, options, end));
    }

    private static void closeWithHandle(NormalResult result) {
        NormalHandle handle = result.handle();
        result.close();
        handle.close();
    }

    /**
     * Brings other vectors to where the tokens of an earlier dispatch went.
     *
     * @param x as many vectors as the earlier dispatch had tokens: [tokens, hidden] bfloat16
     * @param xOffset where they begin, in bytes
     * @param handle of the earlier dispatch; its result may be closed
     * @param options format, time-out, and number of rows
     * @return a result without choices and weights, whose handle is the given one; to be closed
     */
    public Mono<NormalResult> dispatchAgain(MemoryRegion x, long xOffset, NormalHandle handle, NormalOptions options) {
        return called(
                "dispatchAgain",
                NormalResult.class,
                NormalResult::close,
                end -> buffer.dispatchAgain(x, xOffset, handle, options, end));
    }

    /**
     * Brings one vector for each row back to the rank of its token, which adds those of a token, and a bias.
     *
     * @param handle of the dispatch; its result may be closed
     * @param y the vectors, in the rows of the dispatch: [rows received, hidden] bfloat16
     * @param yOffset where they begin, in bytes
     * @param bias [tokens, hidden] bfloat16, or {@code null} for none
     * @param biasOffset where it begins, in bytes
     * @param out for the sums: [tokens, hidden] bfloat16
     * @param outOffset where they begin, in bytes
     * @param timeout the longest time from the call to its end, positive; {@code null} for that of the buffer
     * @return the region {@code out}
     */
    public Mono<MemoryRegion> combine(
            NormalHandle handle,
            MemoryRegion y,
            long yOffset,
            @Nullable MemoryRegion bias,
            long biasOffset,
            MemoryRegion out,
            long outOffset,
            @Nullable Duration timeout) {
        return called(
                "combine", end -> buffer.combine(handle, y, yOffset, bias, biasOffset, out, outOffset, timeout, end));
    }

    // ---- the end ----

    /**
     * Waits for the calls whose subscribers have cancelled before the subscription.
     *
     * @return completes when none of them can touch memory any more
     */
    public Mono<Void> quiesced() {
        return signalled(FutureMono.of("quiesced", abandoned::ended));
    }

    /**
     * Closes the buffer; see {@link ExpertBuffer#closeAsync}. The team stays open.
     *
     * @return completes when nothing touches the buffer's memory any more
     */
    public Mono<Void> close() {
        return signalled(FutureMono.of("close", buffer::closeAsync));
    }

    /** Returns what the buffer is called. */
    @Override
    public String toString() {
        return "ReactiveExpertBuffer[" + buffer + "]";
    }
}
