package io.sluice.engine.transport;

/**
 * What a transport can do. The engine supplies what is lacking where it can.
 *
 * @param ordered whether the work requests of a lane take effect in the order of posting
 * @param completion what a completed write means
 * @param largestMessage the most bytes of one work request
 * @param writeWithSignal whether a {@link WorkRequest.Operation#WRITE} can carry a {@linkplain WorkRequest#hasSignal()
 *     signal}; otherwise the engine posts a {@link WorkRequest.Operation#SIGNAL} when the write has completed
 */
public record Capabilities(boolean ordered, CompletionLevel completion, long largestMessage, boolean writeWithSignal) {
    /** What has happened when a write completes. */
    public enum CompletionLevel {
        /** The target's engine, or its network adapter, has acknowledged it. */
        ACKNOWLEDGED,
        /** The target's code sees it. */
        VISIBLE
    }
}
