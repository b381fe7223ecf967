package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.EventLoop;

/** What is told of a rail's events. One of them at a time watches the device, and tells all of the rail. */
interface RailWatcher {
    /** Where it is told. Any thread. */
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
