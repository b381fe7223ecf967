package io.sluice.reactor.blocks;

/** How a receiver has ended a lease. Either way it will not touch the block again. */
public enum LeaseOutcome {
    /** It has what it wanted. */
    ACKNOWLEDGED,
    /** It has given the block up. */
    RELEASED
}
