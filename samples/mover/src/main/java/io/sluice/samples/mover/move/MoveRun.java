package io.sluice.samples.mover.move;

import io.sluice.directory.Directory;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.samples.mover.peer.Grant;
import io.sluice.samples.mover.peer.PeerLink;
import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.pool.PoolLayout;
import io.sluice.samples.mover.pool.Pools;
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
    private static final long MILLIS_PER_SECOND = 1000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    final Vertx vertx;
    final Move move;
    final BlockPool pool;
    final PeerLink link;
    final Pools pools;
    private final Directory directory;
    private final List<Long> hashes;
    private final Set<TransferResultStream> streams = new HashSet<>();
    private final Set<Promise<Void>> pauses = new HashSet<>();
    private final long begun = System.nanoTime();

    private int next;
    private long paced;
    private boolean failed;

    MoveRun(
            Vertx vertx,
            Move move,
            BlockPool pool,
            PeerLink link,
            List<Long> hashes,
            Pools pools,
            Directory directory) {
        this.vertx = vertx;
        this.move = move;
        this.pool = pool;
        this.link = link;
        this.hashes = hashes;
        this.pools = pools;
        this.directory = directory;
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
        long due = (long) ((double) paced / rate * MILLIS_PER_SECOND);
        long wait = due - (System.nanoTime() - begun) / NANOS_PER_MILLI;
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

    /** The peer's pool as it was granted. */
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

    /** What moves a block: a piece of pages and one of seals in each layer. */
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
}
