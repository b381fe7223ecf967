package io.sluice.architecture.planted;

/** One of six in a circle. */
final class Second {
    Third next() {
        return new Third();
    }
}
