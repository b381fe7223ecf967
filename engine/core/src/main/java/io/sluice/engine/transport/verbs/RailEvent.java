package io.sluice.engine.transport.verbs;

/** Events of a rail and its objects. */
enum RailEvent {
    /** The port is active again. */
    ACTIVE,
    /** The port is down. */
    DOWN,
    /** The device has failed or was removed. */
    REMOVED,
    /** A queue pair is in the error state. */
    QUEUE_PAIR_FAILED,
    /** A completion or receive queue has failed. */
    QUEUE_FAILED
}
