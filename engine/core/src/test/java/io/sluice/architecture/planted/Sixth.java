package io.sluice.architecture.planted;

/** The last of six in a circle: its array of the first closes it. */
final class Sixth {
    First[] all() {
        return new First[0];
    }
}
