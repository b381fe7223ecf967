package io.sluice.experts;

import io.sluice.engine.MemoryRegion;

/**
 * The low-latency calls: dispatch sends a token once for each of its experts, into slots that are settled beforehand,
 * so nothing is negotiated. Every rank makes the same calls in the same order with the same formats; a rank without
 * tokens calls as well. All methods may be called from any thread. Those that throw have called nothing. Ranks whose
 * formats differ, or that combine different dispatches, end with {@link
 * io.sluice.collectives.CollectiveMismatchException}.
 *
 * <p>Regions are host memory of the team's engine and need no rights of peers. They must not change until the call ends,
 * or with a hook until its first half has. Offsets are in bytes, multiples of the element's size.
 *
 * <p>All methods throw {@link IndexOutOfBoundsException} if a range leaves its region, {@link
 * io.sluice.engine.MemoryNotAccessibleException} for memory of a device, and, once the buffer has failed, the error that
 * its pending calls have ended with.
 */
public interface LowLatencyOperations {
    /**
     * Brings tokens to the ranks of their experts.
     *
     * @param x the tokens of this rank: [tokens, hidden] bfloat16
     * @param xOffset where they begin
     * @param topkIdx the experts of each token: [tokens, topK] int64, 0 to experts − 1, or −1 for none; no expert twice
     *     in a token
     * @param topkIdxOffset where they begin
     * @param tokens 0 to the most tokens of a rank
     * @param options format, time-out and statistics
     * @param callback receives the result
     * @throws TooManyLiveResultsException if two results are not closed
     * @throws IllegalArgumentException if there are too many tokens, or the format does not suit the hidden length
     */
    void lowLatencyDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options,
            ExpertCallback<LowLatencyResult> callback);

    /**
     * Does the first half of {@link #lowLatencyDispatch}: ends when the sends are posted and the inputs may change again.
     *
     * @param x as for a dispatch in one
     * @param xOffset where they begin
     * @param topkIdx as for a dispatch in one
     * @param topkIdxOffset where they begin
     * @param tokens 0 to the most tokens of a rank
     * @param options format, time-out of each half, and statistics
     * @param callback receives the hook, which completes with the result
     * @throws TooManyLiveResultsException if two results are not closed
     * @throws IllegalArgumentException as for a dispatch in one
     */
    void lowLatencyDispatchHooked(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options,
            ExpertCallback<ReceiveHook<LowLatencyResult>> callback);

    /**
     * Brings the results of the experts back to the ranks of the tokens, which add them with their weights, in float32, in
     * the order of the token's experts, and round once.
     *
     * @param handle the result of the dispatch
     * @param y the results of this rank's experts: [L, R · M, hidden] bfloat16 in the rows of the dispatch; {@link
     *     LowLatencyResult#combineBuffer()} saves a copy
     * @param yOffset where they begin
     * @param topkIdx the experts of this rank's tokens, as at the dispatch
     * @param topkIdxOffset where they begin
     * @param weights [tokens, topK] float32; those of experts −1 do not count
     * @param weightsOffset where they begin
     * @param out for the sums: [tokens, hidden] bfloat16
     * @param outOffset where they begin
     * @param options format and time-out
     * @param callback receives the region {@code out}
     * @throws IllegalArgumentException if the handle is of another buffer
     * @throws IllegalStateException if the handle is closed, or a combine of it is under way
     */
    void lowLatencyCombine(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions options,
            ExpertCallback<MemoryRegion> callback);

    /**
     * Does the first half of {@link #lowLatencyCombine}: ends when the sends are posted and {@code y} may change again.
     *
     * @param handle the result of the dispatch
     * @param y as for a combine in one
     * @param yOffset where they begin
     * @param topkIdx must not change until the second half has ended
     * @param topkIdxOffset where they begin
     * @param weights must not change until the second half has ended
     * @param weightsOffset where they begin
     * @param out for the sums
     * @param outOffset where they begin
     * @param options format, and time-out of each half
     * @param callback receives the hook, which completes with the region {@code out}
     * @throws IllegalArgumentException as for a combine in one
     * @throws IllegalStateException as for a combine in one
     */
    void lowLatencyCombineHooked(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions options,
            ExpertCallback<ReceiveHook<MemoryRegion>> callback);
}
