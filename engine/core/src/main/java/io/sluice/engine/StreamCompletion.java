package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * A completion event of a device's stream, such as a word in memory that a stream waits for. Passed to {@link
 * TransferOptions#completeInto(CompletionEvent)}. An object may also be a {@link StreamEvent}.
 *
 * <p>If the connection's transport completes into that device, the device sets the event when the bytes of a read or
 * write, or of a list of elements or pages, are in place. The host takes no part in a success, and {@link #complete} is
 * not called. For every other transport, for transfers that span connections or change words, and for those whose
 * elements use several paths, the engine calls it on the host like any other completion event.
 *
 * <p>A failed transfer is always completed on the host, with its error, possibly after the device has set the event:
 * the last bytes may arrive while a cancel or deadline takes effect. An event serves one run at a time.
 */
public interface StreamCompletion extends CompletionEvent {
    /**
     * Returns the event's handle in the device's driver.
     *
     * @return a handle; valid until the transfer that completes into it has ended and is quiescent
     */
    long handle();

    /**
     * Returns the device of the event.
     *
     * @return the device's stable id, as {@link RegionMemory#device()} names it
     */
    String device();

    /**
     * Sets the event on the host: for each failure, and for each success for which no device sets it. In both cases it
     * must release the stream's waiters, as nothing else does.
     *
     * @param error {@code null} for success
     */
    @Override
    void complete(@Nullable SluiceException error);
}
