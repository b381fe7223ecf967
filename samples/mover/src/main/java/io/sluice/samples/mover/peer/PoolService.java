package io.sluice.samples.mover.peer;

import io.sluice.samples.mover.pool.BlockHash;
import io.sluice.samples.mover.pool.BlockPool;
import io.sluice.samples.mover.pool.Pools;
import io.sluice.samples.mover.problem.Problem.ProblemException;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Answers what peers ask about the pools here. */
record PoolService(Pools pools) {
    /** The peer has asked for something that is not there, or has offered what is. */
    static final int NOT_NEEDED = -1;

    /** There is no slot for it. */
    static final int NO_ROOM = -2;

    /** The most blocks of one question: its answer fits into a notification. */
    static final int MOST_BLOCKS = 512;

    Future<JsonObject> answer(PeerMessage.PeerQuestion question, JsonObject body, Leases leases) {
        try {
            return switch (question) {
                case BLOCKS -> Future.succeededFuture(blocks(body));
                case LOCATE -> Future.succeededFuture(locate(body, leases));
                case OFFER -> Future.succeededFuture(offer(body, leases));
                case COMMIT -> commit(body, leases);
            };
        } catch (ProblemException | IllegalArgumentException | ClassCastException | NullPointerException wrong) {
            return Future.failedFuture(wrong);
        }
    }

    private BlockPool pool(JsonObject body) {
        String name = body.getString("pool", "");
        try {
            return pools.named(name);
        } catch (ProblemException unknown) {
            throw Problems.UNKNOWN_POOL_AT_PEER.exception(name);
        }
    }

    private static List<Long> hashes(JsonObject body) {
        JsonArray texts = body.getJsonArray("hashes", new JsonArray());
        if (texts.size() > MOST_BLOCKS) {
            throw new IllegalArgumentException("at most " + MOST_BLOCKS + " blocks at a time");
        }
        List<Long> hashes = BlockHash.parse(texts);
        if (hashes.size() < texts.size()) {
            throw new IllegalArgumentException("a block is named twice, and there is a slot for each name");
        }
        return hashes;
    }

    private JsonObject blocks(JsonObject body) {
        int skip = Math.max(0, body.getInteger("skip", 0));
        int limit = Math.clamp(body.getInteger("limit", MOST_BLOCKS), 0, MOST_BLOCKS);
        return pool(body).listing(skip, limit);
    }

    private JsonObject locate(JsonObject body, Leases leases) {
        BlockPool pool = pool(body);
        leases.requireRoom();
        List<Long> pinned = new ArrayList<>();
        JsonArray slots = new JsonArray();
        for (long hash : hashes(body)) {
            int slot = pool.pin(hash);
            if (slot != BlockPool.NONE) {
                pinned.add(hash);
            }
            slots.add(slot);
        }
        return granted(pool, leases.add(new Leases.Lease(pool, false, pinned, List.of())), slots);
    }

    private JsonObject offer(JsonObject body, Leases leases) {
        BlockPool pool = pool(body);
        leases.requireRoom();
        List<BlockPool.ReservedBlock> reserved = new ArrayList<>();
        JsonArray slots = new JsonArray();
        for (long hash : hashes(body)) {
            if (pool.has(hash)) {
                slots.add(NOT_NEEDED);
                continue;
            }
            int slot = pool.reserve();
            if (slot == BlockPool.NONE) {
                slots.add(NO_ROOM);
            } else {
                reserved.add(new BlockPool.ReservedBlock(hash, slot));
                slots.add(slot);
            }
        }
        return granted(pool, leases.add(new Leases.Lease(pool, true, List.of(), reserved)), slots);
    }

    private static JsonObject granted(BlockPool pool, long lease, JsonArray slots) {
        return new JsonObject()
                .put("lease", lease)
                .put("generation", pool.generation())
                .put("layout", pool.layout().toJson())
                .put("slots", slots);
    }

    private Future<JsonObject> commit(JsonObject body, Leases leases) {
        Leases.Lease writing = leases.takeWriting(body.getLong("lease", 0L));
        if (writing == null) {
            throw new IllegalArgumentException("there is no such lease");
        }
        return pools.admit(writing.pool(), writing.blocks())
                .map(check -> new JsonObject()
                        .put("corruptedPages", check.corruptedPages())
                        .put("corruptedBlocks", check.corruptedBlocks())
                        .put("detail", check.detail()));
    }

    /** The leases of one peer. */
    static final class Leases {
        /** Far more than a peer has batches under way. */
        static final int MOST = 64;

        private final Map<Long, Lease> leases = new HashMap<>();
        private long last;
        private boolean ended;

        void requireRoom() {
            if (leases.size() >= MOST) {
                throw Problems.TOO_MANY.exception("leases of one peer", MOST, "Release some of them first.");
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
        @Nullable
        Lease takeWriting(long id) {
            Lease lease = leases.get(id);
            return lease != null && lease.isWriting() ? leases.remove(id) : null;
        }

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

        /** One lease of a peer: blocks that it reads, which stay in place, or slots that it writes. */
        record Lease(BlockPool pool, boolean isWriting, List<Long> hashes, List<BlockPool.ReservedBlock> blocks) {
            /** The peer is done with it, or gone. */
            void end() {
                hashes.forEach(pool::unpin);
                blocks.forEach(block -> pool.giveBack(block.slot()));
            }
        }
    }
}
