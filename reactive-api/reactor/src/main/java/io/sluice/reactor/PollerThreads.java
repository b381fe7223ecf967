package io.sluice.reactor;

import io.sluice.engine.TransferEngine;
import reactor.core.scheduler.Schedulers;

/** Tells Reactor, once, that the engine's pollers must not block: {@code block()} on one of them is then an error. */
final class PollerThreads {
    static {
        Schedulers.registerNonBlockingThreadPredicate(TransferEngine::isPollerThread);
    }

    private PollerThreads() {}

    /** Makes sure that Reactor knows. */
    static void declareNonBlocking() {
        // Loading this class has done it.
    }
}
