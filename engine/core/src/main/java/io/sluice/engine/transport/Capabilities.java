package io.sluice.engine.transport;

/**
 * What a transport can do beyond what every transport does. The engine supplies what is lacking where it can.
 *
 * @param largestMessage the most bytes of one work request
 * @param writeWithSignal whether a {@link WorkRequest.Operation#WRITE} can carry a {@linkplain WorkRequest#hasSignal()
 *     signal}; otherwise the engine posts a {@link WorkRequest.Operation#SIGNAL} when the write has completed
 * @param callerThreadBytes up to which size a write or read may be carried out by {@link InlineOperations#carryOut}, in bytes; 0
 *     if none
 */
public record Capabilities(long largestMessage, boolean writeWithSignal, long callerThreadBytes) {
    /**
     * Of a transport whose work the caller's thread cannot carry out.
     *
     * @param largestMessage the most bytes of one work request
     * @param writeWithSignal whether a write can carry a signal
     */
    public Capabilities(long largestMessage, boolean writeWithSignal) {
        this(largestMessage, writeWithSignal, 0);
    }
}
