package io.sluice.engine.figures;

import io.sluice.engine.InFlightWindow;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.providers.OpenTransport;

/** What can be asked of an open connection. Any thread. */
public interface SessionFigures {
    /** Its credits. */
    InFlightWindow window();

    /** Transfers submitted and not ended. */
    int pending();

    /** When the peer was last heard of, as {@link System#nanoTime()}. */
    long lastReceived();

    /** What carries its data. */
    OpenTransport transport();

    /** Lanes in a state. */
    int lanes(PathState state);

    /** Rails in a state. */
    int rails(PathState state);

    /** Notifications that the peer still lets this side send. */
    int notificationCredits();

    /** Notifications that wait for a credit, or for room. */
    int notificationsWaiting();
}
