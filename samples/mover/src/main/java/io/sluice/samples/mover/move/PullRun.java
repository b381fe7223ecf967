package io.sluice.samples.mover.move;

import io.sluice.directory.Directory;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.samples.mover.peer.Grant;
import io.sluice.samples.mover.peer.PeerLink;
import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.pool.Pools;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;

/** Reads blocks of a peer into the pool here. */
final class PullRun extends MoveRun {

    PullRun(
            Vertx vertx,
            Move move,
            BlockPool pool,
            PeerLink link,
            List<Long> hashes,
            Pools pools,
            Directory directory) {
        super(vertx, move, pool, link, hashes, pools, directory);
    }

    @Override
    Future<Void> batch(List<Long> blocks) {
        List<Long> missing = blocks.stream().filter(hash -> !pool.has(hash)).toList();
        if (missing.size() < blocks.size()) {
            move.present(blocks.size() - missing.size());
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture();
        }
        return link.locate(pool.name(), missing)
                .compose(grant -> Future.succeededFuture(missing)
                        .compose(wanted -> fetch(wanted, grant))
                        .onComplete(ended -> link.release(grant.lease())));
    }

    private Future<Void> fetch(List<Long> wanted, Grant grant) {
        if (!grant.layout().hasBlocksLike(pool.layout())) {
            return Future.failedFuture(
                    Problems.DIFFERENT_LAYOUT.with(pool.name()).asException());
        }
        if (!pools.isOpen(pool)) {
            return Future.failedFuture(Problems.UNKNOWN_POOL.with(pool.name()).asException());
        }
        List<BlockPool.ReservedBlock> coming = new ArrayList<>();
        List<Integer> theirs = new ArrayList<>();
        boolean full = false;
        for (int i = 0; i < wanted.size() && !full; i++) {
            long hash = wanted.get(i);
            if (grant.slot(i) < 0) {
                move.unknown(hash);
            } else if (pool.has(hash)) {
                move.present(1);
            } else {
                int mine = pool.reserve();
                full = mine == BlockPool.NONE;
                if (!full) {
                    coming.add(new BlockPool.ReservedBlock(hash, mine));
                    theirs.add(grant.slot(i));
                }
            }
        }
        Future<Void> fetched = coming.isEmpty() ? Future.succeededFuture() : read(coming, theirs, grant);
        return full
                ? fetched.compose(done ->
                        Future.failedFuture(Problems.POOL_FULL.with(pool.name()).asException()))
                : fetched;
    }

    private Future<Void> read(List<BlockPool.ReservedBlock> coming, List<Integer> theirs, Grant grant) {
        // On a failure from here on the slots are given back.
        return Future.succeededFuture(grant)
                .compose(granted -> attach(granted))
                .compose(peer -> {
                    List<TransferElement> elements = new ArrayList<>();
                    for (int i = 0; i < coming.size(); i++) {
                        addElements(elements, coming.get(i).slot(), peer, grant.layout(), theirs.get(i));
                    }
                    return transferred(link.connection().readVectored(elements, TransferOptions.defaults()));
                })
                .onFailure(error -> coming.forEach(block -> pool.giveBack(block.slot())))
                .compose(read -> pools.admit(pool, coming))
                .map(check -> {
                    move.checked(coming.size(), check);
                    return null;
                });
    }
}
