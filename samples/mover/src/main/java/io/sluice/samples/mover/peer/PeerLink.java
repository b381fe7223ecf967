package io.sluice.samples.mover.peer;

import io.sluice.directory.Directory;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.samples.mover.pool.BlockHash;
import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.pool.PoolLayout;
import io.sluice.samples.mover.problem.Problem;
import io.sluice.samples.mover.problem.Problems;
import io.sluice.vertx.TransferConnection;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.streams.ReadStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to another mover with what is agreed over it: questions both ways, leases, and the peer's pools that are
 * attached. Confined to the mover's context.
 */
public final class PeerLink {
    private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);

    /** Longer than the connection's liveness time-out, so that a peer that is gone is told as such. */
    private static final long PATIENCE_MILLIS = 15_000;

    /** Questions of the peer that are answered at a time; further ones wait with the peer. */
    private static final int ANSWERED_AT_ONCE = 16;

    private final Vertx vertx;
    private final Context context;
    private final TransferConnection connection;
    private final PoolService desk;
    private final PoolService.Leases leases = new PoolService.Leases();
    private final Map<Long, Promise<JsonObject>> asked = new HashMap<>();
    /** Questions that have timed out, though the peer may still grant a lease. */
    private final Set<Long> overdue = new HashSet<>();

    private final Map<String, Attachment> attached = new HashMap<>();
    private final ReadStream<Buffer> messages;

    private long lastQuestion;
    private boolean ended;

    private PeerLink(Vertx vertx, Context context, TransferConnection connection, PoolService desk) {
        this.vertx = vertx;
        this.context = context;
        this.connection = connection;
        this.desk = desk;
        this.messages = connection.notifications();
    }

    /** Begins to listen. On the mover's context. */
    static PeerLink over(Vertx vertx, Context context, TransferConnection connection, PoolService desk) {
        PeerLink link = new PeerLink(vertx, context, connection, desk);
        link.messages.pause();
        link.messages
                .exceptionHandler(error -> link.hasEnded())
                .endHandler(end -> link.hasEnded())
                .handler(link::received);
        link.messages.fetch(ANSWERED_AT_ONCE);
        connection.ended().onComplete(end -> link.hasEnded());
        return link;
    }

    public TransferConnection connection() {
        return connection;
    }

    boolean isOpen() {
        return !ended;
    }

    /** Which blocks a pool of the peer has. */
    public Future<JsonObject> blocks(String pool, int skip, int limit) {
        return ask(
                PeerMessage.PeerQuestion.BLOCKS,
                new JsonObject().put("pool", pool).put("skip", skip).put("limit", limit));
    }

    /** Keeps blocks of the peer where they are, to be read. */
    public Future<Grant> locate(String pool, List<Long> hashes) {
        return ask(PeerMessage.PeerQuestion.LOCATE, wanted(pool, hashes))
                .compose(answer -> granted(answer, hashes.size()));
    }

    /** Keeps slots at the peer, to be written. */
    public Future<Grant> offer(String pool, List<Long> hashes) {
        return ask(PeerMessage.PeerQuestion.OFFER, wanted(pool, hashes))
                .compose(answer -> granted(answer, hashes.size()));
    }

    private Future<Grant> granted(JsonObject answer, int blocks) {
        try {
            return Future.succeededFuture(Grant.of(answer, blocks));
        } catch (IllegalArgumentException | ClassCastException | NullPointerException wrong) {
            releaseWhatIsIn(answer);
            return Problems.PEER_WRONG.failed(String.valueOf(wrong.getMessage()));
        }
    }

    private void releaseWhatIsIn(@Nullable JsonObject answer) {
        if (answer != null && answer.getValue("lease") instanceof Number lease) {
            release(lease.longValue());
        }
    }

    /** All slots of a lease are written: the peer checks and takes in what is there. */
    public Future<JsonObject> commit(long lease) {
        return ask(PeerMessage.PeerQuestion.COMMIT, new JsonObject().put("lease", lease));
    }

    /** A lease is not used any more. If the peer is gone, so is the lease. */
    public void release(long lease) {
        if (!ended) {
            connection
                    .notify(new PeerMessage.Release(lease).encode())
                    .onFailure(error -> LOG.debug("A lease was not released: {}", error.getMessage()));
        }
    }

    private static JsonObject wanted(String pool, List<Long> hashes) {
        return new JsonObject().put("pool", pool).put("hashes", BlockHash.texts(hashes));
    }

    /**
     * A pool of the peer, whose regions the directory names.
     *
     * @param directory where the peer has published them
     * @param generation as the peer has granted it
     */
    public Future<PeerPool> attach(Directory directory, String peer, String pool, long generation) {
        Attachment known = attached.get(pool);
        if (known != null && known.generation() == generation) {
            return known.pool();
        }
        // Kept from the first question on: a concurrent request must not attach it again.
        Attachment now = new Attachment(generation, regions(directory, peer, pool, generation));
        attached.put(pool, now);
        now.pool().onFailure(error -> attached.remove(pool, now));
        if (known != null) {
            known.pool().onSuccess(before -> {
                connection.detach(before.pages());
                connection.detach(before.seals());
            });
        }
        return now.pool();
    }

    private Future<PeerPool> regions(Directory directory, String peer, String pool, long generation) {
        return Future.fromCompletionStage(
                        directory.lookupRegions(peer, pool + "/").toFuture(), context)
                .map(Objects::requireNonNull)
                .compose(listing -> {
                    RegionDescriptor pages = listing.regions().get(BlockPool.pagesRegion(pool));
                    RegionDescriptor seals = listing.regions().get(BlockPool.sealsRegion(pool));
                    return pages == null || seals == null
                            ? Problems.UNKNOWN_POOL_AT_PEER.failed(pool)
                            : connection.attach(List.of(pages, seals));
                })
                .map(regions -> new PeerPool(generation, regions.get(0), regions.get(1)));
    }

    private record Attachment(long generation, Future<PeerPool> pool) {}

    private Future<JsonObject> ask(PeerMessage.PeerQuestion what, JsonObject body) {
        if (ended) {
            return Future.failedFuture(gone());
        }
        long id = ++lastQuestion;
        Promise<JsonObject> answer = Promise.promise();
        asked.put(id, answer);
        long timer = vertx.setTimer(PATIENCE_MILLIS, late -> {
            asked.remove(id);
            if (what.grants()) {
                overdue.add(id);
            }
            answer.tryFail(Problems.PEER_SILENT.exception(PATIENCE_MILLIS));
        });
        connection.notify(new PeerMessage.Question(id, what, body).encode()).onFailure(answer::tryFail);
        return answer.future().onComplete(done -> {
            vertx.cancelTimer(timer);
            asked.remove(id);
        });
    }

    private void received(Buffer notification) {
        PeerMessage message;
        try {
            message = PeerMessage.decode(notification);
        } catch (IllegalArgumentException wrong) {
            LOG.warn("{} has sent something that is no message of a mover; the connection is closed", connection);
            connection.close();
            return;
        }
        switch (message) {
            case PeerMessage.Question question -> answer(question);
            case PeerMessage.Answer answer -> {
                messages.fetch(1);
                answered(answer);
            }
            case PeerMessage.Release release -> {
                messages.fetch(1);
                leases.end(release.lease());
            }
        }
    }

    private void answer(PeerMessage.Question question) {
        desk.answer(question.what(), question.body(), leases)
                .transform(done -> {
                    Problem problem = done.succeeded() ? null : Problems.of(done.cause());
                    return connection.notify(new PeerMessage.Answer(question.id(), done.result(), problem).encode());
                })
                .onComplete(sent -> messages.fetch(1));
    }

    private void answered(PeerMessage.Answer answer) {
        Promise<JsonObject> question = asked.remove(answer.id());
        JsonObject body = answer.body();
        Problem problem = answer.problem();
        if (question == null) {
            LOG.debug("An answer came too late: {}", answer.id());
            if (overdue.remove(answer.id())) {
                releaseWhatIsIn(body);
            }
        } else if (problem != null) {
            question.tryFail(problem.asException());
        } else {
            question.tryComplete(body);
        }
    }

    private RuntimeException gone() {
        return Problems.PEER_LOST.exception("the connection to the peer has ended");
    }

    private void hasEnded() {
        if (!ended) {
            ended = true;
            leases.endAll();
            List<Promise<JsonObject>> unanswered = new ArrayList<>(asked.values());
            asked.clear();
            overdue.clear();
            unanswered.forEach(question -> question.tryFail(gone()));
        }
    }

    /**
     * A pool of a peer, attached.
     *
     * @param generation which pool of that name it is
     */
    public record PeerPool(long generation, RemoteRegion pages, RemoteRegion seals) {}

    /**
     * A peer's grant: slots of its pool, for as long as the lease lasts.
     *
     * @param lease to be committed or released
     * @param slots one for each block that was asked for; negative where there is none
     */
    public record Grant(long lease, long generation, PoolLayout layout, JsonArray slots) {
        /** A block that is there already when it is offered, or not there when it is wanted. */
        public static final int NOT_NEEDED = PoolService.NOT_NEEDED;

        /** A block for which there is no room. */
        public static final int NO_ROOM = PoolService.NO_ROOM;

        /**
         * Reads the answer of a peer, which is believed in nothing.
         *
         * @throws RuntimeException if something is missing, of another type, or not as was asked for
         */
        static Grant of(JsonObject answer, int blocks) {
            PoolLayout layout = PoolLayout.fromJson(answer.getJsonObject("layout"));
            JsonArray slots = answer.getJsonArray("slots");
            if (slots.size() != blocks) {
                throw new IllegalArgumentException(slots.size() + " slots for " + blocks + " blocks");
            }
            for (Object slot : slots) {
                if (!(slot instanceof Integer number) || number < NO_ROOM || number >= layout.blocks()) {
                    throw new IllegalArgumentException(
                            "a slot that is none of a pool of " + layout.blocks() + " blocks");
                }
            }
            return new Grant(answer.getLong("lease"), answer.getLong("generation"), layout, slots);
        }

        public int slot(int index) {
            return slots.getInteger(index);
        }
    }
}
