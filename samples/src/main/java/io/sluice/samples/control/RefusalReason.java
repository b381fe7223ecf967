package io.sluice.samples.control;

/** Why a decode process refuses. */
public enum RefusalReason {
    /** The other side's message could not be understood, or came at the wrong time. */
    PROTOCOL(0),
    /** The two sides were started for different models. */
    OTHER_MODEL(1),
    /** Another prefill process is being served. */
    OCCUPIED(2),
    /** A request is larger than the whole page pool, or the pool is not to be had. */
    POOL_TOO_SMALL(3);

    private final int code;

    RefusalReason(int code) {
        this.code = code;
    }

    byte code() {
        return (byte) code;
    }

    static RefusalReason of(int code) {
        for (RefusalReason reason : values()) {
            if (reason.code == code) {
                return reason;
            }
        }
        throw new MalformedMessageException(
                "malformed " + MessageType.REFUSED + " message: no reason has the number " + code);
    }
}
