package io.sluice.experts.cuda;

import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.LowLatencyOperations;
import io.sluice.experts.LowLatencyResult;

/**
 * The low-latency calls of a {@link GpuExpertBuffer}, as {@link LowLatencyOperations} describes them, but for memory of this rank's GPU:
 * regions of the team's engine that the engine has allocated, or that were registered. All addresses of vectors lie at multiples of 16
 * bytes. Statistics, and what a {@link LowLatencyResult} has, are memory of the GPU as well; {@link LowLatencyResult#count} is known once
 * the dispatch has ended.
 *
 * <p>A call runs in the buffer's stream, and its callback is called on the team's loop once the GPU has done it. A hook is given once the
 * GPU has done the first half; {@code complete} starts the second. Where that throws {@link
 * io.sluice.engine.TooManyPendingException} nothing was started, and it may be called again. A region that is closed between the halves
 * and that the second one uses, as all but the inputs of what was sent are, is released once that has ended.
 *
 * <p>With two results there are at most two dispatches whose second half is to come; these are completed in the order in which they were
 * called. A result is combined once. A launch that the driver refuses ends the buffers of all ranks. These calls allocate; prepared ones
 * do not.
 *
 * <p>Choices are checked by the GPU: a token that names no valid expert, or one twice, ends the buffer with {@link
 * InvalidChoiceException} on this rank, and with an error on the others. Sums have the bits of those in memory of the host, in {@link
 * io.sluice.experts.CombineFormat#LOGFMT} as well. Ranks that combine in different formats get {@link
 * io.sluice.collectives.CollectiveMismatchException}, or {@link io.sluice.collectives.TeamRevokedException} where another rank saw it.
 */
public interface GpuLowLatency extends LowLatencyOperations {
    /**
     * Prepares a dispatch, which takes one of the two results until it is closed.
     *
     * @param x the tokens of this rank: [tokens, hidden] bfloat16
     * @param xOffset where they begin, in bytes
     * @param topkIdx the experts of each token: [tokens, topK] int64
     * @param topkIdxOffset where they begin, in bytes
     * @param tokens 0 to the most tokens of a rank
     * @param options format, time-out and statistics
     * @return the dispatch, to be started again and again
     * @throws io.sluice.experts.TooManyLiveResultsException if two results are not closed
     * @throws IllegalArgumentException if there are too many tokens, the format does not suit the hidden length, or memory is not aligned
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws io.sluice.engine.MemoryNotAccessibleException for memory that is not of this rank's GPU
     */
    GpuDispatch prepareDispatch(
            MemoryRegion x,
            long xOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            int tokens,
            DispatchOptions options);

    /**
     * Prepares a combine.
     *
     * @param handle the result of a dispatch, prepared or not
     * @param y the results of this rank's experts: [L, R · M, hidden] bfloat16 in the rows of the dispatch
     * @param yOffset where they begin, in bytes
     * @param topkIdx the experts of this rank's tokens, as at the dispatch
     * @param topkIdxOffset where they begin, in bytes
     * @param weights [tokens, topK] float32
     * @param weightsOffset where they begin, in bytes
     * @param out for the sums: [tokens, hidden] bfloat16
     * @param outOffset where they begin, in bytes
     * @param options format, the same on all ranks, and time-out
     * @return the combine, to be started once for each dispatch
     * @throws IllegalArgumentException if the handle is of another buffer, or memory is not aligned
     * @throws IllegalStateException if the handle is closed
     * @throws IndexOutOfBoundsException if a range leaves its region
     * @throws io.sluice.engine.MemoryNotAccessibleException for memory that is not of this rank's GPU
     */
    GpuCombine prepareCombine(
            LowLatencyResult handle,
            MemoryRegion y,
            long yOffset,
            MemoryRegion topkIdx,
            long topkIdxOffset,
            MemoryRegion weights,
            long weightsOffset,
            MemoryRegion out,
            long outOffset,
            CombineOptions options);
}
