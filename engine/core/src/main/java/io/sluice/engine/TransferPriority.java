package io.sluice.engine;

/**
 * Determines which of a connection's waiting transfers go first. Within a priority they go in the order of submission.
 * Priorities age: a transfer alternates, chunk by chunk, with those of the next higher priority that were submitted
 * more than {@link EngineOptions#priorityAging()} later. So nothing starves, and an urgent transfer never waits for all
 * older ones.
 */
public enum TransferPriority {
    /** Before all others, such as a few bytes that a caller is waiting for. */
    HIGH,
    /** The default. */
    NORMAL,
    /** After the others, such as copies made ahead of need. */
    LOW
}
