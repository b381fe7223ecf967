package io.sluice.engine.transport;

import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;

/** Implemented by an endpoint that waits for events of a device's streams, and sets them, on the device itself. */
public interface StreamOrder {
    /**
     * Whether the work requests of a transfer that starts after an event may be posted at once and carry it ({@link
     * WorkRequest#startAfter()}). Any thread. Otherwise the engine waits on the host, and posts once the event has happened.
     *
     * @param event a start event
     * @return true if requests that carry the event may be posted, from now on until the endpoint is closed
     */
    boolean ordersAfter(StreamEvent event);

    /**
     * Whether the work requests of a transfer may carry the event that its success completes ({@link
     * WorkRequest#completesInto()}). Any thread. Otherwise the engine completes it on the host.
     *
     * @param event a completion event
     * @return true if requests that carry the event may be posted, from now on until the endpoint is closed
     */
    default boolean completesInto(StreamCompletion event) {
        return false;
    }
}
