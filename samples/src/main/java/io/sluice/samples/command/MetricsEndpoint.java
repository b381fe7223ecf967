package io.sluice.samples.command;

import io.sluice.engine.TransferEngine;

/** Where the engine of a command can be watched. */
interface MetricsEndpoint extends AutoCloseable {
    MetricsEndpoint NONE = new MetricsEndpoint() {};

    /** From now on this engine can be watched; there is one at most. */
    default void watch(TransferEngine engine) {}

    /** Waits as long as the user wants after all has been said, or until the program is to end. */
    default void linger(Termination termination) {}

    /** The same after a failure, which is said before: the last scrape shows what led to it. */
    default void linger(Termination termination, RuntimeException failure) {}

    @Override
    default void close() {}
}
