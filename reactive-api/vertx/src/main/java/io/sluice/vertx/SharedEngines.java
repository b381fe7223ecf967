package io.sluice.vertx;

import io.vertx.core.Vertx;
import io.vertx.core.shareddata.LocalMap;
import io.vertx.core.shareddata.Shareable;
import java.util.HashMap;
import java.util.Map;

/** The engines of one Vert.x that clients share, by name. */
final class SharedEngines implements Shareable {
    private static final String PLACE = "io.sluice.vertx.engines";

    private final Map<String, OpenEngine> engines = new HashMap<>();

    /** Those of a Vert.x, and gone with it. */
    static SharedEngines of(Vertx vertx) {
        LocalMap<String, SharedEngines> place = vertx.sharedData().getLocalMap(PLACE);
        return place.computeIfAbsent(PLACE, any -> new SharedEngines());
    }

    /** Opens an engine, or holds the one that is there. */
    synchronized OpenEngine hold(Vertx vertx, String name, TransferClientOptions options) {
        OpenEngine known = engines.get(name);
        if (known != null) {
            known.held();
            return known;
        }
        OpenEngine opened = OpenEngine.open(vertx, options);
        engines.put(name, opened);
        return opened;
    }

    /**
     * Lets go of one.
     *
     * @return whether that was the last hold, so that it is to be closed
     */
    synchronized boolean release(String name, OpenEngine engine) {
        if (!engine.released()) {
            return false;
        }
        engines.remove(name, engine);
        return true;
    }
}
