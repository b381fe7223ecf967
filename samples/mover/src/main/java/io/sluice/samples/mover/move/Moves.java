package io.sluice.samples.mover.move;

import io.sluice.directory.Directory;
import io.sluice.samples.mover.peer.PeerLink;
import io.sluice.samples.mover.peer.PeerLinks;
import io.sluice.samples.mover.peer.Peers;
import io.sluice.samples.mover.pool.BlockHash;
import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.pool.PoolLayout;
import io.sluice.samples.mover.pool.Pools;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** The moves of a mover: those that wait, run, or have ended not long ago. Confined to its context. */
public final class Moves {
    private static final int LISTED_AT_ONCE = 512;

    /** Makes the first of the last six hexadecimal digits a, b, e or f. */
    private static final long FIRST_IS_A_LETTER = 0xa0_0000;

    private final Vertx vertx;
    private final Directory directory;
    private final Pools pools;
    private final Peers peers;
    private final PeerLinks links;
    private final MoveLimits limits;
    private final String self;
    private final Listener listener;
    private final String idPrefix;
    private final Map<String, Move> moves = new LinkedHashMap<>();
    private final Deque<Move> waiting = new ArrayDeque<>();

    private long lastId;
    private int running;

    /**
     * None yet.
     *
     * @param self the mover's own name in the directory
     * @param run tells this run of the mover from earlier ones
     */
    public Moves(
            Vertx vertx,
            Directory directory,
            Pools pools,
            Peers peers,
            PeerLinks links,
            MoveLimits limits,
            String self,
            long run,
            Listener listener) {
        this.vertx = vertx;
        this.directory = directory;
        this.pools = pools;
        this.peers = peers;
        this.links = links;
        this.limits = limits;
        this.self = self;
        this.listener = listener;
        this.idPrefix = idPrefix(run);
    }

    /** Begins with a letter: a reader of JSON parameters takes 12345e-1 for a number. */
    static String idPrefix(long run) {
        String text = BlockHash.text(run | FIRST_IS_A_LETTER);
        return text.substring(text.length() - 6) + "-";
    }

    /**
     * Takes a move on.
     *
     * @return as it is now
     * @throws RuntimeException the problem with it
     */
    public JsonObject submit(JsonObject body) {
        Move.MoveRequest request = Move.MoveRequest.of(body);
        BlockPool pool = pools.named(request.pool());
        if (request.peer().equals(self)) {
            throw Problems.IMPOSSIBLE_REQUEST.exception("'" + self + "' is this mover itself; a move is between two");
        }
        if (!peers.knows(request.peer())) {
            throw Problems.UNKNOWN_PEER.exception(request.peer());
        }
        int most = Math.min(limits.blocks(), pool.layout().blocks());
        if (request.blocks() > most) {
            throw Problems.IMPOSSIBLE_REQUEST.exception("a move of the pool '" + pool.name() + "' has at most " + most
                    + " blocks, not " + request.blocks());
        }
        if (waiting.size() >= limits.waiting() && running >= limits.running()) {
            throw Problems.TOO_MANY.exception(
                    "moves waiting", waiting.size(), "Wait for some to end, or cancel some, and try again.");
        }
        Move move = new Move(idPrefix + ++lastId, request, Clock.systemUTC(), listener);
        moves.put(move.id(), move);
        waiting.add(move);
        listener.changedState(move.id(), move::toJson);
        startNext();
        return move.toJson();
    }

    public JsonObject get(String id) {
        return known(id).toJson();
    }

    public JsonObject list() {
        JsonArray all = new JsonArray();
        moves.values().forEach(move -> all.add(move.toJson()));
        return new JsonObject().put("moves", all).put("running", running).put("waiting", waiting.size());
    }

    /** Asks for the end of a move; one that has ended stays as it is. */
    public JsonObject cancel(String id) {
        Move move = known(id);
        if (waiting.remove(move)) {
            move.cancel();
            forgetOld();
        } else {
            move.cancel();
        }
        return move.toJson();
    }

    private Move known(String id) {
        Move move = moves.get(id);
        if (move == null) {
            throw Problems.UNKNOWN_MOVE.exception(id);
        }
        return move;
    }

    private void startNext() {
        while (running < limits.running() && !waiting.isEmpty()) {
            Move move = waiting.remove();
            running++;
            start(move).onComplete(done -> {
                running--;
                move.finish(done.cause());
                forgetOld();
                startNext();
            });
        }
    }

    private Future<Void> start(Move move) {
        Move.MoveRequest request = move.request();
        try {
            BlockPool pool = pools.named(request.pool());
            move.start(pool.layout().blockBytes());
            return links.to(request.peer())
                    .compose(link -> blocks(move, pool, link).compose(hashes -> {
                        move.found(hashes.size());
                        MoveRun.Parts parts = new MoveRun.Parts(vertx, move, pool, link, hashes, pools, directory);
                        boolean pulls = request.direction() == Move.MoveRequest.Direction.FROM;
                        return (pulls ? new MoveRun.PullRun(parts) : new MoveRun.PushRun(parts)).run();
                    }));
        } catch (RuntimeException gone) {
            return Future.failedFuture(gone);
        }
    }

    /** Which blocks, if only a number of them was given. */
    private Future<List<Long>> blocks(Move move, BlockPool pool, PeerLink link) {
        Move.MoveRequest request = move.request();
        if (!request.hashes().isEmpty()) {
            return Future.succeededFuture(request.hashes());
        }
        if (request.direction() == Move.MoveRequest.Direction.TO) {
            return Future.succeededFuture(pool.hashes(0, request.count()));
        }
        return missing(pool, link, request.count(), 0, new LinkedHashSet<>()).map(List::copyOf);
    }

    /** Each once: the peer's order changes with every use, so a block may be in two pages of the list. */
    private Future<Set<Long>> missing(BlockPool pool, PeerLink link, int count, int skip, Set<Long> found) {
        return link.blocks(pool.name(), skip, LISTED_AT_ONCE).compose(answer -> {
            List<Long> listed = BlockHash.parse(answer.getJsonArray("blocks"));
            listed.stream()
                    .filter(hash -> !pool.has(hash) && !found.contains(hash))
                    .limit(count - found.size())
                    .forEach(found::add);
            boolean isLast = listed.size() < LISTED_AT_ONCE || skip + listed.size() >= PoolLayout.MOST_BLOCKS;
            return found.size() == count || isLast
                    ? Future.succeededFuture(found)
                    : missing(pool, link, count, skip + listed.size(), found);
        });
    }

    private void forgetOld() {
        int excess = (int) moves.values().stream()
                        .filter(move -> move.state().isEnd())
                        .count()
                - limits.kept();
        for (Iterator<Move> oldest = moves.values().iterator(); excess > 0 && oldest.hasNext(); ) {
            if (oldest.next().state().isEnd()) {
                oldest.remove();
                excess--;
            }
        }
    }

    /** Called on changes of moves, on the mover's context. */
    public interface Listener {
        /**
         * Some more of a move is done. It comes for each element of a transfer, so do little.
         *
         * @param now tells the move as it is
         */
        void progressed(String id, Supplier<JsonObject> now);

        /**
         * A move is in another state.
         *
         * @param now tells the move as it is
         */
        void changedState(String id, Supplier<JsonObject> now);
    }

    /**
     * How much a mover takes on. Immutable.
     *
     * @param waiting moves that wait for one of those to end; more are refused
     * @param kept moves that have ended and can still be asked about; the oldest are forgotten
     * @param blocks the most blocks of one move
     */
    public record MoveLimits(int running, int waiting, int kept, int blocks) {
        public MoveLimits {
            if (running < 1 || waiting < 0 || kept < 1 || blocks < 1) {
                throw new IllegalArgumentException("limits are positive, not " + running + " running, " + waiting
                        + " waiting, " + kept + " kept moves of " + blocks + " blocks");
            }
        }

        /** 4 running, 64 waiting, 256 kept, 4,096 blocks. */
        public static MoveLimits defaults() {
            return new MoveLimits(4, 64, 256, 4096);
        }
    }
}
