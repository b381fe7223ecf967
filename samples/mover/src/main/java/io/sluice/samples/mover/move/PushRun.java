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

/** Writes blocks from here into the pool of a peer. */
final class PushRun extends MoveRun {

    PushRun(
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
        if (!pools.isOpen(pool)) {
            return Future.failedFuture(Problems.UNKNOWN_POOL.with(pool.name()).asException());
        }
        List<Long> held = new ArrayList<>();
        List<Integer> mine = new ArrayList<>();
        for (long hash : blocks) {
            int slot = pool.pin(hash);
            if (slot == BlockPool.NONE) {
                move.unknown(hash);
            } else {
                held.add(hash);
                mine.add(slot);
            }
        }
        if (held.isEmpty()) {
            return Future.succeededFuture();
        }
        return Future.succeededFuture(held)
                .compose(going -> link.offer(pool.name(), going))
                .compose(grant -> send(mine, grant))
                .onComplete(ended -> held.forEach(pool::unpin));
    }

    private Future<Void> send(List<Integer> mine, Grant grant) {
        if (!grant.layout().hasBlocksLike(pool.layout())) {
            link.release(grant.lease());
            return Future.failedFuture(
                    Problems.DIFFERENT_LAYOUT.with(pool.name()).asException());
        }
        List<Integer> going = new ArrayList<>();
        boolean full = false;
        for (int i = 0; i < mine.size(); i++) {
            int slot = grant.slot(i);
            if (slot >= 0) {
                going.add(i);
            } else if (slot == Grant.NOT_NEEDED) {
                move.present(1);
            } else {
                full = true;
            }
        }
        Future<Void> sent = write(going, mine, grant);
        return full
                ? sent.compose(done ->
                        Future.failedFuture(Problems.POOL_FULL.with(pool.name()).asException()))
                : sent;
    }

    private Future<Void> write(List<Integer> going, List<Integer> mine, Grant grant) {
        if (going.isEmpty()) {
            link.release(grant.lease());
            return Future.succeededFuture();
        }
        // On a failure from here on the lease ends.
        return Future.succeededFuture(grant)
                .compose(granted -> attach(granted))
                .compose(peer -> {
                    List<TransferElement> elements = new ArrayList<>();
                    going.forEach(i -> addElements(elements, mine.get(i), peer, grant.layout(), grant.slot(i)));
                    return transferred(link.connection().writeVectored(elements, TransferOptions.defaults()));
                })
                .transform(
                        written -> written.succeeded() ? commit(going.size(), grant) : abandon(grant, written.cause()));
    }

    private Future<Void> commit(int blocks, Grant grant) {
        return link.commit(grant.lease()).map(answer -> {
            move.checked(
                    blocks,
                    answer.getInteger("corruptedBlocks"),
                    answer.getInteger("corruptedPages"),
                    answer.getString("detail"));
            return null;
        });
    }

    /** The peer gives the slots to others only when no chunk that was posted can land there any more. */
    private Future<Void> abandon(Grant grant, Throwable error) {
        return link.connection().quiet().transform(quiet -> {
            link.release(grant.lease());
            return Future.failedFuture(error);
        });
    }
}
