package io.sluice.experts.cuda;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** A token names an expert that there is not, names one twice, or is combined with one to which it was not dispatched. */
public final class InvalidChoiceException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message which token and expert, and what is wrong with them
     */
    public InvalidChoiceException(String message) {
        super(message);
    }
}
