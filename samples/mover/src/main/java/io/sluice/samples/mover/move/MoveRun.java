package io.sluice.samples.mover.move;

import io.sluice.directory.Directory;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.samples.mover.peer.PeerLink;
import io.sluice.samples.mover.peer.PeerLink.Grant;
import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.pool.PoolLayout;
import io.sluice.samples.mover.pool.Pools;
import io.sluice.samples.mover.problem.Problems;
import io.sluice.vertx.TransferResultStream;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A move while it runs: batch after batch, two at a time, so that one is on its way while another is being agreed on or
 * checked. Confined to the mover's context.
 */
abstract class MoveRun {
    private static final int LANES = 2;
    private static final long BATCH_BYTES = 16L << 20;
    private static final int BATCH_BLOCKS = 64;
    private static final int PACED_BATCHES_PER_SECOND = 10;

    final Move move;
    final BlockPool pool;
    final PeerLink link;
    final Pools pools;
    private final Vertx vertx;
    private final Directory directory;
    private final List<Long> hashes;
    private final Set<TransferResultStream> streams = new HashSet<>();
    private final Set<Promise<Void>> pauses = new HashSet<>();
    private final long begun = System.nanoTime();

    private int next;
    private long paced;
    private boolean failed;

    record Parts(
            Vertx vertx,
            Move move,
            BlockPool pool,
            PeerLink link,
            List<Long> hashes,
            Pools pools,
            Directory directory) {}

    MoveRun(Parts parts) {
        this.vertx = parts.vertx;
        this.move = parts.move;
        this.pool = parts.pool;
        this.link = parts.link;
        this.hashes = parts.hashes;
        this.pools = parts.pools;
        this.directory = parts.directory;
    }

    /** Moves some blocks. When it has ended, however it did, nothing of it touches memory. */
    abstract Future<Void> batch(List<Long> blocks);

    final Future<Void> run() {
        move.onCancel(this::cancel);
        List<Future<Void>> lanes = new ArrayList<>();
        int count = move.request().bytesPerSecond() > 0 ? 1 : LANES;
        for (int i = 0; i < count; i++) {
            Promise<Void> end = Promise.promise();
            lane(end);
            lanes.add(end.future());
        }
        return Future.join(lanes).mapEmpty();
    }

    /** One batch, then the next, until there is none; each from a shallow stack. */
    private void lane(Promise<Void> end) {
        if (move.isCancelled()) {
            end.fail(new TransferCancelledException("the move was cancelled"));
            return;
        }
        int until = Math.min(hashes.size(), next + batchBlocks());
        if (failed || next == until) {
            end.complete();
            return;
        }
        List<Long> blocks = hashes.subList(next, until);
        next = until;
        Future<Void> moved = Future.succeededFuture(blocks).compose(this::batch).compose(done -> pause(blocks.size()));
        boolean atOnce = moved.isComplete();
        moved.onComplete(done -> {
            if (done.failed()) {
                failed = true;
                end.fail(done.cause());
            } else if (atOnce) {
                vertx.runOnContext(run -> lane(end));
            } else {
                lane(end);
            }
        });
    }

    private int batchBlocks() {
        long rate = move.request().bytesPerSecond();
        long bytes = rate > 0 ? Math.min(BATCH_BYTES, rate / PACED_BATCHES_PER_SECOND) : BATCH_BYTES;
        return Math.clamp(bytes / pool.layout().blockBytes(), 1, BATCH_BLOCKS);
    }

    /** Until the blocks so far have taken as long as they should. */
    private Future<Void> pause(int blocks) {
        long rate = move.request().bytesPerSecond();
        paced += blocks * pool.layout().blockBytes();
        if (rate == 0 || move.isCancelled() || next == hashes.size()) {
            return Future.succeededFuture();
        }
        long due = (long) ((double) paced / rate * 1000);
        long wait = due - (System.nanoTime() - begun) / 1_000_000;
        if (wait < 1) {
            return Future.succeededFuture();
        }
        Promise<Void> over = Promise.promise();
        pauses.add(over);
        long timer = vertx.setTimer(wait, late -> over.tryComplete());
        return over.future().onComplete(done -> {
            vertx.cancelTimer(timer);
            pauses.remove(over);
        });
    }

    final Future<PeerLink.PeerPool> attach(Grant grant) {
        return link.attach(directory, move.request().peer(), pool.name(), grant.generation());
    }

    private void cancel() {
        List.copyOf(streams).forEach(TransferResultStream::cancel);
        List.copyOf(pauses).forEach(Promise::tryComplete);
    }

    /** Waits for the end of a vectored transfer; after an error, until nothing of it touches memory any more. */
    final Future<Void> transferred(TransferResultStream stream) {
        Promise<Void> end = Promise.promise();
        streams.add(stream);
        stream.exceptionHandler(error -> stream.quiesced().onComplete(quiet -> {
                    streams.remove(stream);
                    end.tryFail(error);
                }))
                .endHandler(all -> {
                    streams.remove(stream);
                    end.tryComplete();
                })
                .handler(result -> {
                    if (result.succeeded()) {
                        move.moved(result.bytes());
                    }
                });
        if (move.isCancelled()) {
            stream.cancel();
        }
        return end.future();
    }

    /** Adds the elements that move a block: one of pages and one of seals in each layer. */
    final void addElements(
            List<TransferElement> elements, int mine, PeerLink.PeerPool peer, PoolLayout theirs, int slot) {
        PoolLayout layout = pool.layout();
        for (int layer = 0; layer < layout.layers(); layer++) {
            elements.add(element(
                    pool.pages(),
                    layout.pieceOffset(layer, mine),
                    peer.pages(),
                    theirs.pieceOffset(layer, slot),
                    layout.pieceBytes()));
            elements.add(element(
                    pool.seals(),
                    layout.sealPieceOffset(layer, mine),
                    peer.seals(),
                    theirs.sealPieceOffset(layer, slot),
                    layout.sealPieceBytes()));
        }
    }

    private static TransferElement element(
            MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
        return new TransferElement(local, localOffset, remote, remoteOffset, length);
    }

    /** Reads blocks of a peer into the pool here. */
    static final class PullRun extends MoveRun {
        PullRun(Parts parts) {
            super(parts);
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
                return Problems.DIFFERENT_LAYOUT.failed(pool.name());
            }
            if (!pools.isOpen(pool)) {
                return Problems.UNKNOWN_POOL.failed(pool.name());
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
            return full ? fetched.compose(done -> Problems.POOL_FULL.failed(pool.name())) : fetched;
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
                        move.checked(coming.size(), check.corruptedBlocks(), check.corruptedPages(), check.detail());
                        return null;
                    });
        }
    }

    /** Writes blocks from here into the pool of a peer. */
    static final class PushRun extends MoveRun {
        PushRun(Parts parts) {
            super(parts);
        }

        @Override
        Future<Void> batch(List<Long> blocks) {
            if (!pools.isOpen(pool)) {
                return Problems.UNKNOWN_POOL.failed(pool.name());
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
                return Problems.DIFFERENT_LAYOUT.failed(pool.name());
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
            return full ? sent.compose(done -> Problems.POOL_FULL.failed(pool.name())) : sent;
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
                    .transform(written ->
                            written.succeeded() ? commit(going.size(), grant) : abandon(grant, written.cause()));
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
}
