package io.sluice.experts;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The tokens that a dispatch in normal mode has brought to this rank: a row for each, ordered by the rank it comes from, and
 * then by its index there. With R ranks and M tokens a rank at most, segments have room for R · M rows, of which the first
 * {@link #rows()} are in use.
 *
 * <p>A buffer has at most two results that are not closed. The memory belongs to the buffer: after {@link #close()} a later
 * dispatch overwrites it, and the result must not be used any more. Not thread-safe; it may be passed from thread to thread.
 */
public interface NormalResult extends AutoCloseable {
    /**
     * Returns the format of the rows.
     *
     * @return as the dispatch was called
     */
    DispatchFormat format();

    /**
     * Returns the number of rows.
     *
     * @return as many as have arrived, or those of the {@linkplain NormalOptions#worstTokens worst case}
     */
    int rows();

    /**
     * Returns how many rows have arrived. Rows after them have choices of −1 and sources of −1, and any content.
     *
     * @return 0 to {@link #rows()}
     */
    int received();

    /**
     * Returns the vectors.
     *
     * @return [R · M, H], two bytes an element, or one where it is quantised
     */
    MemorySegment tokens();

    /**
     * Returns the scales, row by row.
     *
     * @return [R · M, H/128] float32, or [R · M, H/512] int32 with {@link DispatchFormat#FP8_UE8M0}; empty for {@link
     *     DispatchFormat#BF16}
     */
    Optional<MemorySegment> scales();

    /**
     * Returns the choices of each row.
     *
     * @return [R · M, topK] int64: the number of an expert among those of this rank, or −1 for none and those of other ranks;
     *     empty for {@link NormalOperations#dispatchAgain}
     */
    Optional<MemorySegment> choices();

    /**
     * Returns the weights of each row.
     *
     * @return [R · M, topK] float32, 0 where there is no choice; empty for {@link NormalOperations#dispatchAgain}
     */
    Optional<MemorySegment> weights();

    /**
     * Returns which token each row is.
     *
     * @return [R · M] int32: the token's index on the rank from which it came
     */
    MemorySegment sources();

    /**
     * Returns the first row from a rank.
     *
     * @param rank from 0 to the number of ranks minus 1
     * @return 0 to {@link #received()}
     */
    int firstRow(int rank);

    /**
     * Returns how many rows are from a rank.
     *
     * @param rank from 0 to the number of ranks minus 1
     * @return 0 or more
     */
    int rowsFrom(int rank);

    /**
     * Returns how many choices fall on an expert of this rank.
     *
     * @param localExpert 0 to the number of experts a rank minus 1
     * @return rounded up to the dispatch's {@linkplain NormalOptions#expertAlignment alignment}
     */
    int count(int localExpert);

    /**
     * Returns what a combine and a later {@linkplain NormalOperations#dispatchAgain dispatch} of the same tokens need. It
     * outlives this result.
     *
     * @return the handle
     */
    NormalHandle handle();

    /** Gives the memory back. A second call does nothing, unless a dispatch has used the memory again. */
    @Override
    void close();
}
