package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.Future;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** The part of a client that its connections, streams and transfers use. */
interface ClientContext {
    TransferEngine engine();

    /** The mailbox of the calling context. */
    ContextMailbox mailbox();

    /** The streams that end with the client. */
    OpenWork<DemandStream<?>> streams();

    StagingPool staging();

    /** Notes a transfer that starts, unless the client is closed. An engine of its own ends them without. */
    boolean begin(TransferHandle<?> transfer);

    void end(TransferHandle<?> transfer);

    /** Whether transfers have to end, as the client is closed and the engine lives on. */
    boolean closedTransfers();

    /** The engine's answer to a question, or the exception that it throws, on the caller's context. */
    <T> Future<T> answer(Supplier<? extends CompletionStage<T>> question);
}
