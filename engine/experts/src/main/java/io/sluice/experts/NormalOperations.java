package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The calls of normal mode, for many tokens: dispatch sends a token once to each rank that has one of its experts, and
 * the rows of the result have no gaps. Combine adds, without weights, what each rank made of a token. Every rank makes
 * the same calls in the same order and of the same kind; a rank without tokens calls as well. All methods may be called
 * from any thread. Those that throw have called nothing. Ranks whose calls differ, or that pass handles of different
 * dispatches, end with {@link io.sluice.collectives.CollectiveMismatchException}.
 *
 * <p>Regions are host memory of the team's engine and need no rights of peers. They must not change until the call ends.
 * Offsets are in bytes, multiples of the element's size.
 *
 * <p>All methods throw {@link IndexOutOfBoundsException} if a range leaves its region, {@link
 * io.sluice.engine.MemoryNotAccessibleException} for memory of a device, and, once the buffer has failed, the error that
 * its pending calls have ended with.
 */
public interface NormalOperations {
    /**
     * Finds out where tokens go. Done on the calling thread, without the other ranks.
     *
     * @param topkIdx the experts of each token: [tokens, topK] int64, 0 to experts − 1, or −1 for none
     * @param topkIdxOffset where they begin
     * @param tokens 0 to the most tokens of a rank
     * @param reuse a layout to fill again, so that nothing is allocated; {@code null} for a new one
     * @return the layout
     * @throws IllegalArgumentException if there are too many tokens, a choice is no expert, or the layout is of a buffer of
     *     another shape
     */
    NormalLayout layout(MemoryRegion topkIdx, long topkIdxOffset, int tokens, @Nullable NormalLayout reuse);

    /**
     * Brings tokens to the ranks of their experts.
     *
     * @param x the tokens of this rank: [tokens, hidden] bfloat16
     * @param xOffset where they begin
     * @param topkIdx the experts of each token, as {@link #layout} got them
     * @param topkIdxOffset where they begin
     * @param weights [tokens, topK] float32, which travel with the tokens
     * @param weightsOffset where they begin
     * @param layout where the tokens go, and how many there are; may change again when this method has returned
     * @param options format, alignment of counts, and time-out
     * @param callback receives the result
     * @throws TooManyLiveResultsException if two results are not closed
     * @throws IllegalArgumentException if the layout is of a buffer of another shape, there are more rows than can arrive,
     *     or the format does not suit the hidden length
     */
    void dispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            NormalLayout layout,
            NormalOptions options,
            ExpertCallback<NormalResult> callback);

    /**
     * Brings other vectors to where the tokens of an earlier dispatch went, into the same rows; no rank waits for counts. All
     * ranks pass the handle of the same dispatch.
     *
     * @param x as many vectors as the earlier dispatch had tokens: [tokens, hidden] bfloat16
     * @param xOffset where they begin
     * @param handle of the earlier dispatch; its result may be closed
     * @param options format, time-out, and number of rows; counts of experts are those of the earlier dispatch
     * @param callback receives a result without choices and weights, whose handle is the given one
     * @throws TooManyLiveResultsException if two results are not closed
     * @throws IllegalStateException if the handle is closed, or its dispatch has not ended
     * @throws IllegalArgumentException if the handle is of another buffer, or as for {@link #dispatch}
     */
    void dispatchAgain(
            MemoryRegion x,
            long xOffset,
            NormalHandle handle,
            NormalOptions options,
            ExpertCallback<NormalResult> callback);

    /**
     * Brings one vector for each row back to the rank of its token, which adds those of a token in float32, in the order of
     * the ranks, then the bias, and rounds once. A token that went nowhere gets its bias, or zeros.
     *
     * @param handle of the dispatch; its result may be closed
     * @param y the vectors, in the rows of the dispatch: [rows received, hidden] bfloat16
     * @param yOffset where they begin
     * @param bias [tokens, hidden] bfloat16, or {@code null} for none
     * @param biasOffset where it begins
     * @param out for the sums: [tokens, hidden] bfloat16
     * @param outOffset where they begin
     * @param timeout the longest time from the call to its end, positive; {@code null} for that of the buffer
     * @param callback receives the region {@code out}
     * @throws IllegalStateException if the handle is closed, its dispatch has not ended, or a combine with it has not
     * @throws IllegalArgumentException if the handle is of another buffer
     */
    void combine(
            NormalHandle handle,
            MemoryRegion y,
            long yOffset,
            @Nullable MemoryRegion bias,
            long biasOffset,
            MemoryRegion out,
            long outOffset,
            @Nullable Duration timeout,
            ExpertCallback<MemoryRegion> callback);
}
