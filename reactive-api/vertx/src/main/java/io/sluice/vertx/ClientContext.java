package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.Future;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** The services of a client for its connections, streams and transfers. */
interface ClientContext {
    TransferEngine engine();

    /** Returns the mailbox of the calling context. */
    ContextMailbox mailbox();

    /** Returns the streams that end with the client. */
    OpenWork<DemandStream<?>> streams();

    StagingPool staging();

    /**
     * Registers a transfer that starts, unless the client is closed. Not needed with an own engine, which ends its
     * transfers itself.
     */
    boolean begin(TransferHandle<?> transfer);

    void end(TransferHandle<?> transfer);

    /** Whether the client is closed while its engine continues, so that transfers must be ended. */
    boolean closedTransfers();

    /** Delivers the engine's answer, or the exception that it throws, to the caller's context. */
    <T> Future<T> answer(Supplier<? extends CompletionStage<T>> question);
}
