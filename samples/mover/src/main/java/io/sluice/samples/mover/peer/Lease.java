package io.sluice.samples.mover.peer;

import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.pool.ReservedBlock;
import java.util.List;

/** What a peer may use here for a while: blocks that it reads, or slots that it writes. */
sealed interface Lease {

    /** The peer is done with it, or gone. */
    void end();

    /**
     * Blocks that stay where they are.
     *
     * @param pool theirs
     * @param hashes which
     */
    record Reading(BlockPool pool, List<Long> hashes) implements Lease {
        @Override
        public void end() {
            hashes.forEach(pool::unpin);
        }
    }

    /**
     * Slots that nobody else gets.
     *
     * @param pool theirs
     * @param blocks what is to come there
     */
    record Writing(BlockPool pool, List<ReservedBlock> blocks) implements Lease {
        @Override
        public void end() {
            blocks.forEach(block -> pool.giveBack(block.slot()));
        }
    }
}
