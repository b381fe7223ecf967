package io.sluice.engine.figures;

import io.sluice.engine.InFlightWindow;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.providers.OpenTransport;
import java.util.List;

/** The figures of an open connection. Any thread. */
public interface SessionFigures {
    /** Its credits. */
    InFlightWindow window();

    /** Transfers submitted and not ended. */
    int pending();

    /** When the last bytes of the peer arrived, as {@link System#nanoTime()}. */
    long lastReceived();

    /** The preferred transport of its data. */
    OpenTransport transport();

    /** The transports of its data, the preferred one first. */
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
