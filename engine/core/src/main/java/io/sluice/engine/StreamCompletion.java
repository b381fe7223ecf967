package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * A completion event that belongs to a device's stream, such as a word in memory that a kernel's stream waits for. Given to
 * {@link TransferOptions#completeInto(CompletionEvent)}. One object may be a {@link StreamEvent} as well.
 *
 * <p>Where the connection's transport completes into that device, the device sets the event when the bytes of a read or write, of a
 * list of elements or of pages are in place, and the host takes no part in a success: {@link #complete} is not called then. With
 * every other transport, for a transfer that spans connections or changes words, and for one whose elements go on several paths, the
 * engine calls it on the host, as any other completion event.
 *
 * <p>A transfer that fails is always completed on the host, with its error, perhaps after the device has set the event: the
 * last bytes may arrive while a cancel or a deadline is on its way. An event is that of one run at a time.
 */
public interface StreamCompletion extends CompletionEvent {
    /**
     * The event in the words of the device's driver.
     *
     * @return a handle; valid until the transfer that completes into it has ended and is quiescent
     */
    long handle();

    /**
     * Whose event it is.
     *
     * @return the device's stable id, as {@link RegionMemory#device()} names it
     */
    String device();

    /**
     * Sets the event on the host, where no device does: for each success that no device sets it for, and for each
     * failure. Waiters on the stream must be let go on in both cases, as nothing else will.
     *
     * @param error {@code null} for success
     */
    @Override
    void complete(@Nullable SluiceException error);
}
