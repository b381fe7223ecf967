package io.sluice.reactor;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.NormalHandle;
import io.sluice.experts.NormalLayout;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.NormalResult;
import java.time.Duration;
import java.util.Objects;
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
public final class ReactiveExpertBuffer extends ReactiveLowLatency {
    static {
        PollerThreads.declareNonBlocking();
    }

    private final ExpertBuffer buffer;

    private ReactiveExpertBuffer(ExpertBuffer buffer, @Nullable Scheduler scheduler, AbandonedCalls abandoned) {
        super(() -> buffer, scheduler, abandoned);
        this.buffer = buffer;
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
