package io.sluice.samples.mover.peer;

import io.sluice.samples.mover.pool.PoolLayout;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/**
 * What a peer has granted: slots of its pool, for as long as the lease lasts.
 *
 * @param lease to be committed or released
 * @param generation of the pool
 * @param layout of the pool
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
     * @param blocks how many were asked for
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
                throw new IllegalArgumentException("a slot that is none of a pool of " + layout.blocks() + " blocks");
            }
        }
        return new Grant(answer.getLong("lease"), answer.getLong("generation"), layout, slots);
    }

    /** The slot of a block. */
    public int slot(int index) {
        return slots.getInteger(index);
    }
}
