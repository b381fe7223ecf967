package io.sluice.samples.control;

/** What came from the other side is no message, or not one that fits here; the message says what is wrong with it. */
public final class MalformedMessageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public MalformedMessageException(String message) {
        super(message);
    }
}
