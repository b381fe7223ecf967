package io.sluice.engine.transport;

/**
 * Of an endpoint whose completed writes are acknowledged, but not always visible to the target's code yet. Those of an endpoint
 * without it are visible when they complete.
 */
@FunctionalInterface
public interface WriteVisibility {
    /**
     * Makes what has completed visible to the target's code.
     *
     * @param done to be run on the loop's thread when it is, perhaps inside the call; never if the endpoint is closed before
     */
    void makeVisible(Runnable done);
}
