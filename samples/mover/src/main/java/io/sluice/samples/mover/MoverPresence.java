package io.sluice.samples.mover;

import io.sluice.directory.Advertisement;
import io.sluice.directory.Directory;
import io.sluice.directory.NameTakenException;
import io.sluice.directory.Publication;
import io.sluice.engine.TransferEngine;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mover's entry in the directory, with the regions of its pools. Confined to the mover's context. */
final class MoverPresence {
    private static final Logger LOG = LoggerFactory.getLogger(MoverPresence.class);

    private static final long RETRY_MILLIS = 1000;
    private static final long WITHDRAW_MILLIS = 3000;

    private final Vertx vertx;
    private final Context context;
    private final Directory directory;
    private final TransferEngine engine;
    private final String name;

    private @Nullable Publication publication;
    private @Nullable Promise<Void> underWay;
    private boolean outdated;
    /** Set by the first withdrawal: nothing may put the entry back from then on. */
    private @Nullable Future<Void> leaving;
    /** Another mover has the name now; to publish once more would be to fight over it. */
    private boolean superseded;

    private String trouble = "not published yet";

    MoverPresence(Vertx vertx, Directory directory, TransferEngine engine, String name) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.directory = directory;
        this.engine = engine;
        this.name = name;
    }

    /** Empty if the directory has this mover as it is, as far as is known; else why not. */
    String trouble() {
        return trouble;
    }

    /**
     * Tells the directory what this mover has now. If it does not answer, this is tried again until it does. A mover that
     * leaves, or whose name another one has taken, tells nothing any more.
     *
     * @return completes when an attempt that knew of all that was there has ended, however it did
     */
    Future<Void> publish() {
        if (isOut()) {
            return Future.succeededFuture();
        }
        Promise<Void> current = underWay;
        if (current != null) {
            // A running read may have read the entry before the change.
            outdated = true;
            return current.future();
        }
        Promise<Void> told = Promise.promise();
        underWay = told;
        tell(told);
        return told.future();
    }

    private boolean isOut() {
        return superseded || leaving != null;
    }

    private void tell(Promise<Void> told) {
        outdated = false;
        attempt().onComplete(done -> {
            if (isOut()) {
                LOG.debug("{} is not published any more", name);
            } else if (done.succeeded()) {
                trouble = "";
                if (outdated) {
                    tell(told);
                    return;
                }
            } else {
                trouble = "the directory could not be updated: " + done.cause().getMessage();
                LOG.warn("{}: {}", name, trouble);
                if (!(done.cause() instanceof NameTakenException)) {
                    vertx.setTimer(RETRY_MILLIS, again -> publish());
                }
            }
            underWay = null;
            told.complete();
        });
    }

    private Future<Void> attempt() {
        Advertisement now;
        try {
            now = Advertisement.of(name, engine);
        } catch (IllegalStateException deaf) {
            return Future.failedFuture(deaf);
        }
        Publication known = publication;
        if (known != null) {
            return Future.fromCompletionStage(known.update(now.regions()).toFuture(), context)
                    .mapEmpty();
        }
        return Future.fromCompletionStage(directory.publish(now).toFuture(), context)
                .map(made -> {
                    publication = made;
                    Future.fromCompletionStage(made.ended().toFuture(), context).onFailure(taken -> {
                        superseded = true;
                        trouble = String.valueOf(taken.getMessage());
                        LOG.warn("{}: {}", name, trouble);
                    });
                    return null;
                });
    }

    /** Takes the entry out, for good; if the directory does not answer, it expires. */
    Future<Void> withdraw() {
        Future<Void> known = leaving;
        if (known != null) {
            return known;
        }
        Promise<Void> left = Promise.promise();
        leaving = left.future();
        trouble = "it leaves the directory";
        Promise<Void> current = underWay;
        // A running publication could put the entry in after its removal.
        Future<Void> settled = current == null ? Future.succeededFuture() : current.future();
        long timer = vertx.setTimer(WITHDRAW_MILLIS, late -> left.tryComplete());
        settled.compose(done -> takeOut()).onComplete(done -> {
            vertx.cancelTimer(timer);
            left.tryComplete();
        });
        return left.future();
    }

    private Future<Void> takeOut() {
        Publication known = publication;
        return known == null
                ? Future.succeededFuture()
                : Future.fromCompletionStage(known.withdraw().toFuture(), context)
                        .mapEmpty();
    }
}
