package io.sluice.experts.cuda;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.NormalOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The calls of normal mode on a {@link GpuExpertBuffer}, for many tokens: {@linkplain #prepareDispatch dispatch} sends a
 * token once to each rank that has one of its experts, and the rows of the result have no gaps. {@linkplain
 * #prepareCombine Combine} adds, without weights, what each rank made of a token. The bytes are those of {@link
 * io.sluice.experts.NormalOperations} on host memory.
 *
 * <p>A call is prepared, then started any number of times: it runs in the buffer's {@linkplain GpuExpertBuffer#stream()
 * stream}, and neither allocates nor waits for the host. It throws {@link IllegalStateException} while the stream is being
 * captured into a CUDA graph: replays would store old numbers in the stream. {@link GpuExpertBuffer#graph} makes graphs of
 * calls. Every rank starts the same calls in the same order; one without tokens calls as well.
 *
 * <pre>{@code
 * GpuNormalLayout layout = mode.prepareLayout(topkIdx, 0, tokens);
 * GpuNormalDispatch dispatch = mode.prepareDispatch(x, 0, topkIdx, 0, weights, 0, layout, NormalOptions.defaults());
 * GpuNormalCombine combine = mode.prepareCombine(dispatch.handle(), y, 0, null, 0, out, 0, null);
 * layout.start();
 * dispatch.start(); // then kernels that make y of dispatch.result()
 * buffer.onReached(callback).arm(combine.start());
 * }</pre>
 *
 * <p>Regions are memory of this rank's GPU and need no rights of peers; they stay leased until the prepared call is closed. Offsets are in
 * bytes. Vectors lie at multiples of 16 bytes.
 *
 * <p>All methods throw {@link IndexOutOfBoundsException} if a range leaves its region, {@link
 * io.sluice.engine.MemoryNotAccessibleException} for memory that is not this rank's GPU's, {@link IllegalArgumentException} for memory that
 * is not aligned, and, once the buffer has failed, the error that its calls have ended with. Any thread.
 */
public interface GpuNormalMode {
    /**
     * Prepares to find out where tokens go. A choice that is no expert fails the buffer with {@link InvalidChoiceException}.
     *
     * @param topkIdx the experts of each token: [tokens, topK] int64, 0 to experts − 1, or −1 for none; at a multiple of 8 bytes
     * @param topkIdxOffset where they begin
     * @param tokens 0 to the most tokens of a rank
     * @return the layout, which has memory of its own
     * @throws IllegalArgumentException if there are too many tokens
     */
    GpuNormalLayout prepareLayout(MemoryRegion topkIdx, long topkIdxOffset, int tokens);

    /**
     * Prepares to bring tokens to the ranks of their experts.
     *
     * @param x the tokens of this rank: [tokens, hidden] bfloat16
     * @param xOffset where they begin
     * @param topkIdx the experts of each token, as {@link #prepareLayout} got them
     * @param topkIdxOffset where they begin
     * @param weights [tokens, topK] float32, which travel with the tokens
     * @param weightsOffset where they begin
     * @param layout where the tokens go; started before the dispatch is
     * @param options format, alignment of counts, number of rows, and time-out; the same on all ranks but for time-out and alignment
     * @return the dispatch, which keeps memory for a result until it is closed
     * @throws io.sluice.experts.TooManyLiveResultsException if two dispatches are not closed
     * @throws IllegalArgumentException if the layout is of another buffer, there are more rows than can arrive, or the format does not suit
     *     the hidden length
     */
    GpuNormalDispatch prepareDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            GpuNormalLayout layout,
            NormalOptions options);

    /**
     * Prepares to bring other vectors to where the tokens of a dispatch went, into the same rows. All ranks pass the handle of the same
     * dispatch.
     *
     * @param x as many vectors as the dispatch has tokens: [tokens, hidden] bfloat16
     * @param xOffset where they begin
     * @param handle of the dispatch, which may be closed
     * @param options format, time-out, number of rows, and alignment of counts
     * @return the dispatch, whose result has no choices and weights, and whose handle is the given one
     * @throws io.sluice.experts.TooManyLiveResultsException if two dispatches are not closed
     * @throws IllegalStateException if the handle is closed
     * @throws IllegalArgumentException if the handle is of another buffer, or as for {@link #prepareDispatch}
     */
    GpuNormalDispatch prepareDispatchAgain(MemoryRegion x, long xOffset, GpuNormalHandle handle, NormalOptions options);

    /**
     * Prepares to bring one vector for each row back to the rank of its token, which adds those of a token in float32, in the order of the
     * ranks, then the bias, and rounds once. A token that went nowhere gets its bias, or zeros.
     *
     * @param handle of the dispatch, which may be closed
     * @param y the vectors, in the rows of the dispatch: [rows received, hidden] bfloat16. Where there are fewer rows than were received
     *     the buffer fails with {@link TooManyRowsException}
     * @param yOffset where they begin
     * @param bias [tokens, hidden] bfloat16, or {@code null} for none
     * @param biasOffset where it begins
     * @param out for the sums: [tokens, hidden] bfloat16, apart from the others
     * @param outOffset where they begin
     * @param timeout how long a kernel waits for other ranks, positive; {@code null} for the buffer's
     * @return the combine
     * @throws IllegalStateException if the handle is closed
     * @throws IllegalArgumentException if the handle is of another buffer
     */
    GpuNormalCombine prepareCombine(
            GpuNormalHandle handle,
            MemoryRegion y,
            long yOffset,
            @Nullable MemoryRegion bias,
            long biasOffset,
            MemoryRegion out,
            long outOffset,
            @Nullable Duration timeout);
}
