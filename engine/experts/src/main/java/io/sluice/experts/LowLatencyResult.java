package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import java.util.Optional;

/**
 * The tokens that a low-latency dispatch has brought to the experts of this rank, and the handle of the combine that
 * sends results back. With L local experts, R ranks, M tokens a rank at most and H channels, local expert e has the rows
 * e · R · M and following; those in use come first, ordered by the rank they come from. A rank's rows are in no order
 * that anyone may rely on; {@link #sources()} says which token each is.
 *
 * <p>A buffer has at most two results that are not closed. The memory belongs to the buffer: after {@link #close()} a
 * later dispatch overwrites it. Not thread-safe; the result may be passed from thread to thread.
 */
public interface LowLatencyResult extends AutoCloseable {
    /**
     * Returns the format of the rows.
     *
     * @return as the dispatch was called
     */
    DispatchFormat format();

    /**
     * Returns the rows.
     *
     * @return [L, R · M, H], two bytes an element, or one where it is quantised; local memory
     */
    MemoryRegion tokens();

    /**
     * Returns the scales, by columns: that of row i, channels 128 · g and following, of local expert e is element (e ·
     * H/128 + g) · R · M + i. With {@link DispatchFormat#FP8_UE8M0} an int32 has the exponents of 512 channels, and
     * H/512 stands for H/128.
     *
     * @return [L, H/128, R · M] float32, or [L, H/512, R · M] int32; empty for {@link DispatchFormat#BF16}
     */
    Optional<MemoryRegion> scales();

    /**
     * Returns the number of tokens of each local expert.
     *
     * @return [L] int32
     */
    MemoryRegion counts();

    /**
     * Returns which token each row is.
     *
     * @return [L, R · M] int32: the token's index on the rank from which it came
     */
    MemoryRegion sources();

    /**
     * Returns which rows came from which rank.
     *
     * @return [L, R] int64: the first row among those of the expert, shifted left by 32, or the number of rows
     */
    MemoryRegion ranges();

    /**
     * Returns the number of tokens of a local expert.
     *
     * @param localExpert 0 to L − 1
     * @return 0 to R · M
     */
    int count(int localExpert);

    /**
     * Returns memory for the results of the experts from which combine sends without a copy of its own where the back end
     * allows it. It is laid out as {@link #tokens()} of {@link DispatchFormat#BF16}, and is this result's until its
     * combine has ended.
     *
     * @return [L, R · M, H] bfloat16
     */
    MemoryRegion combineBuffer();

    /**
     * Gives the memory back; the result must not be used any more. A combine that runs with it keeps the memory until it
     * has ended. To be called once: a later dispatch may return the same object.
     */
    @Override
    void close();
}
