package io.sluice.reactor.blocks;

/** How a receiver ended a lease. Either way it does not touch the block again. */
public enum LeaseOutcome {
    /** The receiver has used the block. */
    ACKNOWLEDGED,
    /** The receiver returned the block unused. */
    RELEASED
}
