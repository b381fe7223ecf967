package io.sluice.architecture.planted;

/** One of six in a circle. */
final class Fourth {
    Fifth next() {
        return new Fifth();
    }
}
