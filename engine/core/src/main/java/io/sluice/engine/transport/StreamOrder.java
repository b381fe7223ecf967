package io.sluice.engine.transport;

import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;

/** Implemented by an endpoint that waits for events of a device's streams, and sets them, on the device. */
public interface StreamOrder {
    /**
     * Returns whether the work requests of a transfer that starts after an event may be posted immediately and carry it
     * ({@link WorkRequest#startAfter()}). Otherwise the engine waits on the host and posts once the event has happened.
     * Called by any thread.
     *
     * @param event a start event
     * @return true if requests that carry the event may be posted, from now on until the endpoint is closed
     */
    boolean ordersAfter(StreamEvent event);

    /**
     * Returns whether the work requests of a transfer may carry the event that its success completes ({@link
     * WorkRequest#completesInto()}). Otherwise the engine completes it on the host. Called by any thread.
     *
     * @param event a completion event
     * @return true if requests that carry the event may be posted, from now on until the endpoint is closed
     */
    default boolean completesInto(StreamCompletion event) {
        return false;
    }
}
