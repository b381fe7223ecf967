package io.sluice.experts;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Something of normal mode that was handed to the loop. Used again and again, by one call at a time. */
abstract class NormalCall {
    private static final Logger LOG = LoggerFactory.getLogger(NormalCall.class);

    /** Of a list of calls. */
    @Nullable
    NormalCall next;

    /** When it must have ended, as {@link System#nanoTime()}. */
    long deadline;

    final CallTimes times = new CallTimes();

    /**
     * Ends the call.
     *
     * @param error {@code null} for success
     */
    abstract void end(@Nullable SluiceException error);

    static <R> void tell(ExpertCallback<R> callback, R result, @Nullable SluiceException error) {
        try {
            callback.ended(error == null ? result : null, error);
        } catch (RuntimeException e) {
            LOG.error("the callback of a call on an expert buffer threw an exception", e);
        }
    }
}
