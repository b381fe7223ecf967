package io.sluice.engine;

/**
 * A transfer that is checked once and can be started many times. Starting it allocates nothing unless it has a start
 * event. It has at most one run at a time. The methods of {@link Transfer} refer to the latest run; before the first
 * run they answer as if one had ended.
 */
public interface PreparedTransfer extends Transfer {
    /**
     * Submits the transfer; a deadline counts from this call. It may be called from the transfer's callback.
     *
     * @throws IllegalStateException if the last run has not ended, or its chunks may still touch memory ({@link
     *     #quiesced()})
     * @throws TooManyPendingException if too many transfers are pending
     * @throws ConnectionLostException if the connection has ended
     */
    void start();

    /**
     * Sets other ranges of the same regions for the next runs of a single read or write without a signal.
     *
     * @param localOffset the start of the local range, in bytes
     * @param remoteOffset the start of the remote range, in bytes
     * @param length bytes, 0 or more
     * @return this
     * @throws IndexOutOfBoundsException if a range leaves its region; the previous ranges are kept
     * @throws IllegalStateException if the transfer is running
     * @throws UnsupportedOperationException if this is another kind of transfer
     */
    PreparedTransfer retarget(long localOffset, long remoteOffset, long length);

    /**
     * Sets other pages of the same regions for the next runs of a transfer of pages. Allocates nothing unless there are
     * more pages than ever before.
     *
     * @param localPages the page numbers in the local region, one or more; copied
     * @param remotePages the page numbers in the remote region, as many; copied
     * @return this
     * @throws IndexOutOfBoundsException if a page leaves its region; the previous pages are kept
     * @throws IllegalArgumentException if there is no page, or the counts differ; the previous pages are kept
     * @throws IllegalStateException if the transfer is running, or chunks of its last run may still touch memory
     * @throws UnsupportedOperationException if this is another kind of transfer
     */
    PreparedTransfer retargetPages(int[] localPages, int[] remotePages);

    /**
     * Does the same as {@link #retargetPages(int[], int[])}, with offsets in place of page numbers.
     *
     * @param localOffsets the offsets of the pages in the local region, in bytes, one or more; copied
     * @param remoteOffsets the offsets of the pages in the remote region, in bytes, as many; copied
     * @return this
     * @throws IndexOutOfBoundsException if a page leaves its region; the previous pages are kept
     * @throws IllegalArgumentException if there is no page, or the counts differ; the previous pages are kept
     * @throws IllegalStateException if the transfer is running, or chunks of its last run may still touch memory
     * @throws UnsupportedOperationException if this is another kind of transfer
     */
    PreparedTransfer retargetPages(long[] localOffsets, long[] remoteOffsets);
}
