package io.sluice.samples.control;

/** The other side sent bytes that are no message, or a message that is invalid in this state; the text names the fault. */
public final class MalformedMessageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public MalformedMessageException(String message) {
        super(message);
    }
}
