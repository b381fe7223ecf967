package io.sluice.samples.bench;

import java.util.Locale;

/** Through what the transfers are started. */
public enum Api {
    /** The engine's own, with callbacks. */
    ENGINE,
    /** Mono and Flux, assembled for each transfer. */
    REACTOR,
    /** Futures of Vert.x, started and completed on an event loop. */
    VERTX;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
