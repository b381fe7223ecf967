package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.EventLoop;

/** Receives a rail's events. One watcher at a time reads the device's events, and forwards them to all of the rail. */
interface RailWatcher {
    /** The loop that it is called on. Any thread. */
    EventLoop loop();

    /**
     * Something has happened. Called on the loop.
     *
     * @param event what
     * @param number of the queue pair, if it is about one
     */
    void railEvent(RailEvent event, int number);

    /** From now on this one watches the device. Called on the loop. */
    void watchDevice();
}
