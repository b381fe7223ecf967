package io.sluice.architecture.planted;

/** One of six in a circle. */
final class Third {
    Fourth next() {
        return new Fourth();
    }
}
