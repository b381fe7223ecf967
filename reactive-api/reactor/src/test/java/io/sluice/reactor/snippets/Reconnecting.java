package io.sluice.reactor.snippets;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import io.sluice.reactor.recovery.ReconnectingConnection;
import io.sluice.reactor.recovery.ReconnectingRegion;
import reactor.util.retry.Retry;

/** A connection that comes back, for the page about recovery. */
final class Reconnecting {
    private Reconnecting() {}

    static void write(ReactiveTransferEngine engine, MemoryRegion local) {
        // begin
        ReconnectingConnection peer =
                ReconnectingConnection.to(engine, EngineAddress.of("10.0.0.2", 7000), ReconnectOptions.defaults());
        ReconnectingRegion pages = peer.region("pages");

        pages.write(local, 0, 0, local.length())
                .retryWhen(Retry.max(3)
                        .filter(error -> error instanceof ConnectionLostException
                                && !(error instanceof OutcomeUnknownException)))
                .subscribe();
        // end
    }
}
