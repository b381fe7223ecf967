package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.EventLoop;

/**
 * Receives a rail's events. One watcher at a time reads the device's events and forwards them to all watchers of the
 * rail.
 */
interface RailWatcher {
    /** The loop that the watcher is called on. Any thread. */
    EventLoop loop();

    /**
     * An event has occurred. Called on the loop.
     *
     * @param event the event
     * @param number the number of the queue pair, if the event is about one
     */
    void railEvent(RailEvent event, int number);

    /** This watcher reads the device's events from now on. Called on the loop. */
    void watchDevice();
}
