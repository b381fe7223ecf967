package io.sluice.vertx;

import org.jspecify.annotations.Nullable;

/** Something that has come for a context, and is handed over there once. */
abstract class Delivery {
    /** The one that came before it; for {@link ContextMailbox} alone. */
    @Nullable
    Delivery earlier;

    /** Hands it over. On the context, unless that takes no work any more; it must not throw. */
    abstract void deliver();
}
