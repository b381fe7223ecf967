package io.sluice.samples.control;

/** Why a decode process refuses. The order is part of the message format: add at the end. */
public enum RefusalReason {
    /** The other side's message could not be understood, or came at the wrong time. */
    PROTOCOL,
    /** The two sides were started for different models. */
    OTHER_MODEL,
    /** Another prefill process is being served. */
    OCCUPIED,
    /** A request is larger than the whole page pool, or the pool is not to be had. */
    POOL_TOO_SMALL
}
