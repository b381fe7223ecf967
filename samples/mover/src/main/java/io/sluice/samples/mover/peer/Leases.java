package io.sluice.samples.mover.peer;

import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.problem.Problems;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What one peer has leased here. */
final class Leases {

    /** Far more than a peer has batches under way. */
    static final int MOST = 64;

    private final Map<Long, Lease> leases = new HashMap<>();
    private long last;
    private boolean ended;

    /** Fails if the peer has too many already. */
    void requireRoom() {
        if (leases.size() >= MOST) {
            throw Problems.TOO_MANY
                    .with("leases of one peer", MOST, "Release some of them first.")
                    .asException();
        }
    }

    /** Gives one out; if the peer is gone, it ends at once. */
    long add(Lease lease) {
        last++;
        if (ended) {
            lease.end();
        } else {
            leases.put(last, lease);
        }
        return last;
    }

    /** Takes one back that is for writing, without ending it; {@code null} if there is none. */
    Lease.@Nullable Writing takeWriting(long id) {
        if (!(leases.get(id) instanceof Lease.Writing writing)) {
            return null;
        }
        leases.remove(id);
        return writing;
    }

    /** Ends one, if it is still there. */
    void end(long id) {
        Lease lease = leases.remove(id);
        if (lease != null) {
            lease.end();
        }
    }

    /** The peer is gone: it uses nothing here any more. */
    void endAll() {
        ended = true;
        List<Lease> all = new ArrayList<>(leases.values());
        leases.clear();
        all.forEach(Lease::end);
    }

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
         * Slots that are reserved.
         *
         * @param pool theirs
         * @param blocks what is to come there
         */
        record Writing(BlockPool pool, List<BlockPool.ReservedBlock> blocks) implements Lease {
            @Override
            public void end() {
                blocks.forEach(block -> pool.giveBack(block.slot()));
            }
        }
    }
}
