package io.sluice.reactor.observation;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.PagesFailedException;
import io.sluice.engine.TransferTimeoutException;
import java.util.Locale;
import java.util.concurrent.TimeoutException;

/** How an observed transfer ended. */
public enum TransferOutcome {
    /** It has not. */
    UNKNOWN,
    /** With success. */
    SUCCESS,
    /** With an error other than the next. */
    ERROR,
    /** By its deadline, or by one of its subscriber's. */
    TIMEOUT,
    /** By its subscriber. */
    CANCELLED;

    static TransferOutcome of(Throwable error) {
        boolean ofParts = error instanceof ElementsFailedException || error instanceof PagesFailedException;
        Throwable first = ofParts ? error.getCause() : error;
        return first instanceof TransferTimeoutException || first instanceof TimeoutException ? TIMEOUT : ERROR;
    }

    /** In lower case, as a key's value. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
