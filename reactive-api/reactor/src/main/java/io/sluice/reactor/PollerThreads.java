package io.sluice.reactor;

import io.sluice.engine.TransferEngine;
import reactor.core.scheduler.Schedulers;

/** Tells Reactor once that the engine's pollers must not block, so that {@code block()} on one of them is an error. */
final class PollerThreads {
    static {
        Schedulers.registerNonBlockingThreadPredicate(TransferEngine::isPollerThread);
    }

    private PollerThreads() {}

    /** Ensures that Reactor has been told. */
    static void declareNonBlocking() {
        // The class initializer does it.
    }
}
