package io.sluice.reactor.observation;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.TransferTimeoutException;
import java.util.Locale;
import java.util.concurrent.TimeoutException;

/** How an observed transfer ended. */
public enum TransferOutcome {
    /** It has not ended. */
    UNKNOWN,
    /** With success. */
    SUCCESS,
    /** With an error other than the next. */
    ERROR,
    /** By its deadline or a time-out of its subscriber. */
    TIMEOUT,
    /** By a cancel of its subscriber. */
    CANCELLED;

    static TransferOutcome of(Throwable error) {
        boolean ofParts = error instanceof ElementsFailedException || error instanceof PagesFailedException;
        Throwable first = ofParts ? error.getCause() : error;
        return first instanceof TransferTimeoutException || first instanceof TimeoutException ? TIMEOUT : ERROR;
    }

    /** Returns the name in lower case, as the value of a key. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
