package io.sluice.architecture.planted.above;

import io.sluice.architecture.planted.Below;

/** One of two packages in a circle. */
public final class Above {
    /** Reaches down. */
    public Below down() {
        return new Below();
    }
}
