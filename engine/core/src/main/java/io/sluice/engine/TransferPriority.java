package io.sluice.engine;

/**
 * Which of a connection's waiting transfers go first. Within a priority they go in the order of submission. Priorities age:
 * a transfer takes turns, chunk by chunk, with those of the next higher priority that were submitted more than
 * {@link EngineOptions#priorityAging()} later, so that nothing starves, and what is urgent never waits for all that is old.
 */
public enum TransferPriority {
    /** Before all others, such as a few bytes that a caller waits for. */
    HIGH,
    /** The default. */
    NORMAL,
    /** After the others, such as copies that are made ahead of need. */
    LOW
}
