package io.sluice.samples.prefill;

import io.sluice.samples.control.RefusalReason;

/** The decode side cannot go on; the message is the decode side's own. */
public final class RefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final RefusalReason reason;

    RefusedException(RefusalReason reason, String text) {
        super(text);
        this.reason = reason;
    }

    /** What kind of trouble it is. */
    public RefusalReason reason() {
        return reason;
    }
}
