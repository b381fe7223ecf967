package io.sluice.engine.transport;

/** What an endpoint counts of its data path. The bytes that {@link InlineOperations#execute} moves the engine counts itself. */
public enum WireCounter {
    /** Bytes sent: framing and what was sent again included. */
    SENT,
    /** Bytes received, framing included. */
    RECEIVED,
    /** Work requests that were posted again behind a fence. */
    RESENT_CHUNKS,
    /** Fences asked for because a lane has failed. */
    FENCES
}
