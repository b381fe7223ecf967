package io.sluice.vertx;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.LowLatencyOperations;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.ReceiveHook;
import io.vertx.core.Future;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Low-latency calls as futures, in memory of the host or of GPUs; needs {@code sluice-experts}. For contexts, order, hooks and lifetime
 * see {@link TransferExpertBuffer}, and for GPUs {@code TransferGpuExpertBuffer}.
 */
@SuppressWarnings("exports") // Applications with experts require their module; others do without.
public abstract class TransferLowLatency {
    final ClientContext client;
    private final Supplier<? extends LowLatencyOperations> calls;

    TransferLowLatency(ClientContext client, Supplier<? extends LowLatencyOperations> calls) {
        this.client = client;
        this.calls = calls;
    }

    final <R> Future<R> called(Consumer<ExpertCallback<R>> call) {
        return EngineCall.start(client, end -> call.accept(end::finish));
    }

    private <R> Future<TransferReceiveHook<R>> hooked(Consumer<ExpertCallback<ReceiveHook<R>>> call) {
        return EngineCall.start(
                client,
                end -> call.accept((hook, error) ->
                        end.finish(hook == null ? null : new TransferReceiveHook<>(client, hook), error)));
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
    public Future<LowLatencyResult> lowLatencyDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options) {
        return called(end -> calls.get().lowLatencyDispatch(x, xOffset, topkIdx, topkIdxOffset, tokens, options, end));
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
     * @return the hook, which completes with the tokens
     */
    public Future<TransferReceiveHook<LowLatencyResult>> lowLatencyDispatchHooked(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options) {
        return hooked(
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
    public Future<MemoryRegion> lowLatencyCombine(
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
        return called(end -> calls.get()
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
     * @return the hook, which completes with the region {@code out}
     */
    public Future<TransferReceiveHook<MemoryRegion>> lowLatencyCombineHooked(
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
        return hooked(end -> calls.get()
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
}
