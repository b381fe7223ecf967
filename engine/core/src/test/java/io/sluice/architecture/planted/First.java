package io.sluice.architecture.planted;

/** One of six in a circle, through a nested class. */
public final class First {
    /** Counts as its outer class. */
    static final class Nested {
        Second next() {
            return new Second();
        }
    }
}
