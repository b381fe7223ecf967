package io.sluice.samples.control;

import com.fasterxml.jackson.annotation.JsonProperty;

/** The decode side cannot go on with a prefill process; the message is the decode side's, for people at either end. */
public final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final RefusalReason reason;

    public RefusedException(RefusalReason reason, String text) {
        super(text);
        this.reason = reason;
    }

    public RefusalReason reason() {
        return reason;
    }

    /** Why a decode process refuses. The names in quotation marks are part of the message format. */
    public enum RefusalReason {
        /** The other side's message could not be understood, or came at the wrong time. */
        @JsonProperty("protocol")
        PROTOCOL,
        /** The two sides were started for different models. */
        @JsonProperty("other-model")
        OTHER_MODEL,
        /** Another prefill process is being served. */
        @JsonProperty("occupied")
        OCCUPIED,
        /** A request is larger than the whole page pool, or the pool is not to be had. */
        @JsonProperty("pool-too-small")
        POOL_TOO_SMALL
    }
}
