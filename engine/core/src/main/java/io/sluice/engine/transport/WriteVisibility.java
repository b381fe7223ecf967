package io.sluice.engine.transport;

/**
 * Implemented by an endpoint whose completed writes are acknowledged but may not be visible to the target's code yet.
 * Writes of other endpoints are visible when they complete.
 */
@FunctionalInterface
public interface WriteVisibility {
    /**
     * Makes completed writes visible to the target's code.
     *
     * @param done must be run on the loop's thread when they are, possibly inside the call; never if the endpoint is
     *     closed earlier
     */
    void makeVisible(Runnable done);
}
