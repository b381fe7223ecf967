package io.sluice.engine.transport;

/**
 * What a transport can do. The engine supplies what is lacking where it can.
 *
 * @param ordered whether the work requests of a lane take effect in the order of posting
 * @param completion what a completed write means
 * @param largestMessage the most bytes of one work request
 * @param writeWithSignal whether a {@link WorkRequest.Operation#WRITE} can carry a {@linkplain WorkRequest#hasSignal()
 *     signal}; otherwise the engine posts a {@link WorkRequest.Operation#SIGNAL} when the write has completed
 * @param callerThreadBytes up to which size a write or read may be carried out by {@link Endpoint#carryOut}, in bytes; 0 if none
 */
public record Capabilities(
        boolean ordered,
        CompletionLevel completion,
        long largestMessage,
        boolean writeWithSignal,
        long callerThreadBytes) {
    /**
     * Of a transport whose work the caller's thread cannot carry out.
     *
     * @param ordered whether the work requests of a lane take effect in the order of posting
     * @param completion what a completed write means
     * @param largestMessage the most bytes of one work request
     * @param writeWithSignal whether a write can carry a signal
     */
    public Capabilities(boolean ordered, CompletionLevel completion, long largestMessage, boolean writeWithSignal) {
        this(ordered, completion, largestMessage, writeWithSignal, 0);
    }

    /** What has happened when a write completes. */
    public enum CompletionLevel {
        /** The target's engine, or its network adapter, has acknowledged it. */
        ACKNOWLEDGED,
        /** The target's code sees it. */
        VISIBLE
    }
}
