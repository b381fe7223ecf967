package io.sluice.samples.mover.move;

import io.sluice.samples.mover.pool.BlockHash;
import io.sluice.samples.mover.problem.Problem;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One move, with how far it has come. Confined to the mover's context. */
final class Move {
    private static final int NAMED = 8;

    private final String id;
    private final Moves.Listener listener;
    private final Clock clock;
    private final Instant created;
    /** The first of those that are unknown. */
    private final List<Long> unknownNamed = new ArrayList<>();

    private MoveRequest request;

    private State state = State.WAITING;
    private @Nullable Instant started;
    private @Nullable Instant ended;
    private @Nullable Problem problem;
    private @Nullable Runnable cancellation;
    private String corruptedDetail = "";
    private int blocks;
    private int blocksDone;
    private int blocksPresent;
    private int blocksUnknown;
    private int blocksCorrupted;
    private long pagesCorrupted;
    private long blockBytes;
    private long bytesDone;

    Move(String id, MoveRequest request, Clock clock, Moves.Listener listener) {
        this.id = id;
        this.request = request;
        this.clock = clock;
        this.listener = listener;
        this.created = clock.instant();
        this.blocks = request.blocks();
    }

    String id() {
        return id;
    }

    MoveRequest request() {
        return request;
    }

    State state() {
        return state;
    }

    /** Whether its end was requested. */
    boolean isCancelled() {
        return state == State.CANCELLING || state == State.CANCELLED;
    }

    void start(long bytesOfBlock) {
        blockBytes = bytesOfBlock;
        started = clock.instant();
        become(State.RUNNING);
    }

    /** So many blocks are moved, now that it is known which. */
    void found(int count) {
        blocks = count;
        listener.progressed(id, this::toJson);
    }

    /** Sets the action of a cancel while the move runs. */
    void onCancel(Runnable action) {
        cancellation = action;
    }

    /** Requests its end; a move that waits ends at once. */
    void cancel() {
        if (state == State.WAITING) {
            end(State.CANCELLED);
        } else if (state == State.RUNNING) {
            become(State.CANCELLING);
            Runnable action = cancellation;
            if (action != null) {
                action.run();
            }
        }
    }

    void moved(long bytes) {
        bytesDone += bytes;
        listener.progressed(id, this::toJson);
    }

    /** Some blocks need not be moved. */
    void present(int count) {
        blocksPresent += count;
        listener.progressed(id, this::toJson);
    }

    /** A block is not there to be moved. */
    void unknown(long hash) {
        blocksUnknown++;
        if (unknownNamed.size() < NAMED) {
            unknownNamed.add(hash);
        }
    }

    /** Some blocks have arrived and were checked. */
    void checked(int arrived, int corruptedBlocks, int corruptedPages, String detail) {
        blocksDone += arrived - corruptedBlocks;
        blocksCorrupted += corruptedBlocks;
        pagesCorrupted += corruptedPages;
        if (corruptedPages > 0 && corruptedDetail.isEmpty()) {
            corruptedDetail = detail;
        }
        listener.progressed(id, this::toJson);
    }

    /** Nothing of it runs any more. */
    void finish(@Nullable Throwable error) {
        if (pagesCorrupted > 0) {
            problem = Problems.CORRUPTED_PAGES.with(pagesCorrupted, corruptedDetail);
        } else if (error != null && !isCancelled()) {
            problem = Problems.of(error);
        } else if (blocksUnknown > 0) {
            problem = Problems.UNKNOWN_BLOCKS.with(unknownDetail());
        }
        if (error != null && isCancelled()) {
            end(State.CANCELLED);
        } else {
            end(problem == null ? State.DONE : State.FAILED);
        }
    }

    private String unknownDetail() {
        return blocksUnknown + " of the blocks are in no pool '" + request.pool() + "' where they should come from: "
                + unknownNamed.stream().map(BlockHash::text).collect(Collectors.joining(", "))
                + (blocksUnknown > NAMED ? ", …" : "");
    }

    private void end(State last) {
        ended = clock.instant();
        cancellation = null;
        // It is kept for long, and its blocks are not needed any more.
        request = request.withoutHashes();
        become(last);
    }

    private void become(State next) {
        state = next;
        listener.changedState(id, this::toJson);
    }

    JsonObject toJson() {
        int toMove = blocks - blocksPresent - blocksUnknown;
        Problem wrong = problem;
        return new JsonObject()
                .put("id", id)
                .put("state", state.name())
                .put("direction", request.direction().name().toLowerCase(Locale.ROOT))
                .put("peer", request.peer())
                .put("pool", request.pool())
                .put("blocks", blocks)
                .put("blocksDone", blocksDone)
                .put("blocksPresent", blocksPresent)
                .put("blocksUnknown", blocksUnknown)
                .put("blocksCorrupted", blocksCorrupted)
                .put("pagesCorrupted", pagesCorrupted)
                .put("bytes", blockBytes * toMove)
                .put("bytesDone", bytesDone)
                .put("created", created.toString())
                .put("started", text(started))
                .put("ended", text(ended))
                .put("problem", wrong == null ? null : wrong.toJson());
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }

    /** Where a move is. */
    public enum State {
        /** It waits for others to end. */
        WAITING,
        /** Its blocks are being moved. */
        RUNNING,
        /** It was cancelled, and what was posted by then has not drained yet: it still holds credits and slots. */
        CANCELLING,
        /** All its blocks are there. */
        DONE,
        /** It has ended with a problem; some of its blocks may be there. */
        FAILED,
        /** It was cancelled, and nothing of it can touch memory any more. */
        CANCELLED;

        public boolean isEnd() {
            return this == DONE || this == FAILED || this == CANCELLED;
        }
    }

    /**
     * A request for a move.
     *
     * @param peer its name in the directory
     * @param pool the name of the pool, the same on both sides
     * @param hashes of the blocks; empty if a number is given
     * @param count how many blocks that the other side does not have, if no hashes are given; else 0
     * @param bytesPerSecond how fast at most; 0 for as fast as the window allows
     */
    public record MoveRequest(
            Direction direction, String peer, String pool, List<Long> hashes, int count, long bytesPerSecond) {
        public enum Direction {
            /** The peer's blocks are read into the pool here. */
            FROM,
            /** Blocks from here are written into the peer's pool. */
            TO
        }

        /**
         * Reads a request.
         *
         * @throws IllegalArgumentException if it makes no sense
         */
        public static MoveRequest of(JsonObject json) {
            @Nullable String from = json.getString("from");
            @Nullable String to = json.getString("to");
            @Nullable JsonArray blocks = json.getJsonArray("blocks");
            int count = json.getInteger("count", 0);
            String pool = json.getString("pool");
            String peer = from == null ? to : from;
            if (peer == null || (from != null && to != null)) {
                throw new IllegalArgumentException("give either 'from' or 'to', with the name of a peer");
            }
            if (pool == null) {
                throw new IllegalArgumentException("'pool' is missing");
            }
            boolean hasBlocks = blocks != null && !blocks.isEmpty();
            if (hasBlocks == count > 0) {
                throw new IllegalArgumentException("give either 'blocks', a list of hashes, or 'count', at least 1");
            }
            return new MoveRequest(
                    from == null ? Direction.TO : Direction.FROM,
                    peer,
                    pool,
                    blocks == null ? List.of() : BlockHash.parse(blocks),
                    count,
                    Math.max(0, json.getLong("bytesPerSecond", 0L)));
        }

        /** The same without the hashes, which may be many. */
        MoveRequest withoutHashes() {
            return new MoveRequest(direction, peer, pool, List.of(), blocks(), bytesPerSecond);
        }

        int blocks() {
            return hashes.isEmpty() ? count : hashes.size();
        }
    }
}
