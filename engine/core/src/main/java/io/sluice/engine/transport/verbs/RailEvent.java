package io.sluice.engine.transport.verbs;

/** The events of a rail and of its objects. */
enum RailEvent {
    /** Its port works again. */
    ACTIVE,
    /** Its port is down. */
    DOWN,
    /** The device is gone, or beyond repair. */
    REMOVED,
    /** A queue pair is in the error state. */
    QUEUE_PAIR_FAILED,
    /** A completion or receive queue has lost something. */
    QUEUE_FAILED
}
