package io.sluice.engine.figures;

import io.sluice.engine.InFlightWindow;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.providers.OpenTransport;
import java.util.List;

/** What can be asked of an open connection. Any thread. */
public interface SessionFigures {
    /** Its credits. */
    InFlightWindow window();

    /** Transfers submitted and not ended. */
    int pending();

    /** When the peer was last heard of, as {@link System#nanoTime()}. */
    long lastReceived();

    /** What it prefers to carry its data. */
    OpenTransport transport();

    /** What carries its data, that one first. */
    List<OpenTransport> transports();

    /** Lanes in a state, of its path over a transport; 0 if it has none. */
    int lanes(OpenTransport over, PathState state);

    /** Rails in a state, of its path over a transport; 0 if it has none. */
    int rails(OpenTransport over, PathState state);

    /** Notifications that the peer still lets this side send. */
    int notificationCredits();

    /** Notifications that wait for a credit, or for room. */
    int notificationsWaiting();
}
