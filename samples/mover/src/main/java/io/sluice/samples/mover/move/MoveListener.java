package io.sluice.samples.mover.move;

import io.vertx.core.json.JsonObject;
import java.util.function.Supplier;

/** Hears of changes of moves, on the mover's context. */
public interface MoveListener {

    /**
     * Some more of a move is done. It comes for each element of a transfer, so do little.
     *
     * @param id of the move
     * @param now tells the move as it is
     */
    void progressed(String id, Supplier<JsonObject> now);

    /**
     * A move is in another state.
     *
     * @param id of the move
     * @param now tells the move as it is
     */
    void changedState(String id, Supplier<JsonObject> now);
}
