package io.sluice.architecture.planted;

/** One of six in a circle. */
final class Fifth {
    Sixth next() {
        return new Sixth();
    }
}
