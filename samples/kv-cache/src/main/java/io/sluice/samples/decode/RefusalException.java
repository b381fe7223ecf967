package io.sluice.samples.decode;

import io.sluice.samples.control.RefusalReason;

/** This side cannot go on with the prefill process; the message is for the people at the other end. */
final class RefusalException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final RefusalReason reason;

    RefusalException(RefusalReason reason, String text) {
        super(text);
        this.reason = reason;
    }

    RefusalReason reason() {
        return reason;
    }
}
