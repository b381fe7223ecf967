package io.sluice.engine.transport;

/**
 * The data-path counters of an endpoint. The engine itself counts the bytes that {@link InlineOperations#execute}
 * moves.
 */
public enum WireCounter {
    /** Bytes sent, including framing and resent bytes. */
    SENT,
    /** Bytes received, framing included. */
    RECEIVED,
    /** Work requests that were posted again behind a fence. */
    RESENT_CHUNKS,
    /** Fences asked for because a lane has failed. */
    FENCES
}
