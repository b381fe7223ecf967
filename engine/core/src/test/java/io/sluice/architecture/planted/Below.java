package io.sluice.architecture.planted;

import io.sluice.architecture.planted.above.Above;

/** One of two packages in a circle. */
public final class Below {
    /** Reaches up. */
    public Above up() {
        return new Above();
    }
}
