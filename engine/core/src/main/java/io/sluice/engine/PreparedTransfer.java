package io.sluice.engine;

/**
 * A transfer that was checked once and can be started again and again; starting it allocates nothing, but for
 * one with a start event. It runs at most once
 * at a time. {@link Transfer}'s methods speak of the latest run; before the first they answer as after an end.
 */
public interface PreparedTransfer extends Transfer {
    /**
     * Submits it; a deadline counts from here. It may be called from the transfer's own callback.
     *
     * @throws IllegalStateException if the last run has not ended, or chunks of it may still touch memory
     *     ({@link #quiesced()})
     * @throws TooManyPendingException if too many transfers wait already
     * @throws ConnectionLostException if the connection has ended
     */
    void start();

    /**
     * Chooses other ranges of the same regions for the next runs; of a single read or write without a signal.
     *
     * @param localOffset where the local range begins, in bytes
     * @param remoteOffset where the remote range begins, in bytes
     * @param length bytes, 0 or more
     * @return this
     * @throws IndexOutOfBoundsException if a range leaves its region; the old ones are kept
     * @throws IllegalStateException if it is running
     * @throws UnsupportedOperationException if this is another kind of transfer
     */
    PreparedTransfer retarget(long localOffset, long remoteOffset, long length);

    /**
     * Chooses other pages of the same regions for the next runs; of a transfer of pages. Allocates nothing if there are no more
     * pages than there ever were.
     *
     * @param localPages the pages' numbers in the local region, one or more; copied
     * @param remotePages their numbers in the remote region, as many; copied
     * @return this
     * @throws IndexOutOfBoundsException if a page leaves its region; the old ones are kept
     * @throws IllegalArgumentException if there is no page, or the counts differ; the old ones are kept
     * @throws IllegalStateException if it is running, or chunks of the last run may still touch memory
     * @throws UnsupportedOperationException if this is another kind of transfer
     */
    PreparedTransfer retargetPages(int[] localPages, int[] remotePages);

    /**
     * As {@link #retargetPages(int[], int[])}, with the pages' offsets.
     *
     * @param localOffsets where the pages begin in the local region, in bytes, one or more; copied
     * @param remoteOffsets where they begin in the remote region, in bytes, as many; copied
     * @return this
     * @throws IndexOutOfBoundsException if a page leaves its region; the old ones are kept
     * @throws IllegalArgumentException if there is no page, or the counts differ; the old ones are kept
     * @throws IllegalStateException if it is running, or chunks of the last run may still touch memory
     * @throws UnsupportedOperationException if this is another kind of transfer
     */
    PreparedTransfer retargetPages(long[] localOffsets, long[] remoteOffsets);
}
