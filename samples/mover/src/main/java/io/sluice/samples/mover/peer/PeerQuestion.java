package io.sluice.samples.mover.peer;

/** What movers ask each other, over the notifications of their connection. */
public enum PeerQuestion {
    /** Which blocks are there: {@code pool}, {@code skip}, {@code limit}; the answer has {@code hashes} and {@code total}. */
    BLOCKS,
    /** Keep blocks for being read: {@code pool}, {@code hashes}; the answer has a lease and a slot for each, or -1. */
    LOCATE,
    /** Keep slots for being written: as above; -1 for what is there already, -2 where there is no room. */
    OFFER,
    /** All is written: {@code lease}; the answer tells of {@code corruptedPages}. Ends the lease. */
    COMMIT;

    /** Whether an answer to it has a lease, which is to be given back. */
    boolean grants() {
        return this == LOCATE || this == OFFER;
    }
}
