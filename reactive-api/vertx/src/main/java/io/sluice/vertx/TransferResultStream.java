package io.sluice.vertx;

import io.sluice.engine.TransferResult;
import io.vertx.core.Future;
import io.vertx.core.streams.ReadStream;

/**
 * The results of a vectored transfer, one for each element, in the order in which they end. {@link
 * TransferResult#element()} is the element's index in the input; after 2<sup>31</sup> elements it restarts at 0.
 *
 * <p>Nothing is transferred before a {@linkplain #handler handler} is set. No more elements are submitted than results
 * were fetched, and no more at a time than the in-flight window holds. {@link #pause()} stops the submission; the
 * results of elements in flight then wait here, at most a window.
 *
 * <p>A failed element emits a result with its error, and the others continue. After the last result the stream ends or,
 * if any element failed, calls the exception handler with {@link io.sluice.engine.ElementsFailedException}. Invalid
 * input, such as a range outside its region, cancels what is in flight and fails the whole stream.
 *
 * <p>Removing the handler cancels the transfer silently. Handlers are called on the context that created the stream.
 * The methods may be called from any thread.
 */
public interface TransferResultStream extends ReadStream<TransferResult> {
    /**
     * Cancels what is in flight and submits no more. After the results so far, the exception handler is called with
     * {@link io.sluice.engine.TransferCancelledException}; cancelled elements emit no result. Has no effect after the
     * end.
     */
    void cancel();

    /**
     * Waits until nothing submitted so far can access memory any more.
     *
     * @return completes normally, within the liveness time-out after a cancel, time-out or error
     */
    Future<Void> quiesced();
}
