package io.sluice.samples.mover.move;

import io.sluice.samples.mover.pool.BlockHash;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is asked for.
 *
 * @param direction from the peer or to it
 * @param peer its name in the directory
 * @param pool the name of the pool, the same on both sides
 * @param hashes of the blocks; empty if a number is given
 * @param count how many blocks that the other side does not have, if no hashes are given; else 0
 * @param bytesPerSecond how fast at most; 0 for as fast as the window allows
 */
public record MoveRequest(
        Direction direction, String peer, String pool, List<Long> hashes, int count, long bytesPerSecond) {

    /** Which way. */
    public enum Direction {
        /** The peer's blocks are read into the pool here. */
        FROM,
        /** Blocks from here are written into the peer's pool. */
        TO
    }

    /**
     * Reads a request.
     *
     * @throws IllegalArgumentException if it cannot be carried out by anybody
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
