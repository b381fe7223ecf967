package io.sluice.engine.session;

import io.sluice.engine.InFlightWindow;

/** What can be asked of an open connection. Any thread. */
interface SessionFigures {
    /** Its credits. */
    InFlightWindow window();

    /** Transfers submitted and not ended. */
    int pending();

    /** When the peer was last heard of, as {@link System#nanoTime()}. */
    long lastReceived();
}
