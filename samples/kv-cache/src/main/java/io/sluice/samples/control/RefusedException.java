package io.sluice.samples.control;

/** The decode side cannot go on with a prefill process; the message is the decode side's, for people at either end. */
public final class RefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final RefusalReason reason;

    /** With what the decode side says. */
    public RefusedException(RefusalReason reason, String text) {
        super(text);
        this.reason = reason;
    }

    /** What kind of trouble it is. */
    public RefusalReason reason() {
        return reason;
    }
}
