package io.sluice.engine.transport.reordering;

import io.sluice.testkit.FuzzSeed;

/**
 * The seed from which the connections of this process derive theirs: {@code -Dsluice.test.seed}, or always the same, mixed
 * with the name of the test. The connecting side tells the accepting one, so that a second process needs no seed.
 */
final class DisorderSeed {
    private static volatile long current = draw("disorder");

    private DisorderSeed() {}

    /** Before a test: its own seed, the same whichever tests run before it, and the property in the log. */
    static void begin(String test) {
        current = draw(test);
    }

    static long current() {
        return current;
    }

    private static long draw(String test) {
        return FuzzSeed.of(test).random(test.hashCode()).nextLong();
    }
}
