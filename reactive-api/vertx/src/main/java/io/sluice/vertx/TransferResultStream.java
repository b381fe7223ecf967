package io.sluice.vertx;

import io.sluice.engine.TransferResult;
import io.vertx.core.Future;
import io.vertx.core.streams.ReadStream;

/**
 * The results of a vectored transfer, one an element, in the order in which the elements end; {@link TransferResult#element()} is the
 * element's place in what was given, and after 2<sup>31</sup> elements counts from 0 again.
 *
 * <p>Nothing is transferred before there is a {@linkplain #handler handler}. No more elements are submitted than results were
 * fetched, and no more at a time than the in-flight window holds: {@link #pause()} stops the submission, and what is in flight by
 * then waits here, never more than a window.
 *
 * <p>An element that fails gives a result with its error, and the others go on. After the last result comes the end, or, if any
 * element failed, the exception handler gets {@link io.sluice.engine.ElementsFailedException}. A mistake, such as a range that
 * leaves its region, cancels what is in flight and is an error of the whole stream.
 *
 * <p>To take the handler away cancels the transfer silently. Handlers are called on the context that the stream was made on. The methods may be called from any thread.
 */
public interface TransferResultStream extends ReadStream<TransferResult> {
    /**
     * Cancels what is in flight and submits nothing more. The exception handler gets
     * {@link io.sluice.engine.TransferCancelledException} after the results that have come; those of the cancelled elements are not
     * given. After the end it does nothing.
     */
    void cancel();

    /**
     * When nothing that was submitted until now can touch memory any more.
     *
     * @return completes normally, within the liveness time-out after a cancel, time-out or error
     */
    Future<Void> quiesced();
}
