package io.sluice.engine.control;

import io.sluice.engine.progress.Poller;

/** Something with a socket that is under way on a poller, and that a closing engine must not leave behind. */
public interface PendingSocket {
    /** The poller that drives the socket. */
    Poller poller();

    /** Ends it soon; called on the poller's thread. */
    void abort();
}
