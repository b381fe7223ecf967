package io.sluice.reactor.blockhound;

import io.sluice.engine.TransferEngine;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Makes blocking calls on pollers an error where BlockHound is installed; {@code BlockHound.install()} finds this
 * class.
 *
 * <p>BlockHound works only on the class path. If Sluice is on the module path, it needs {@code --add-reads
 * io.sluice.reactor=ALL-UNNAMED}, as a module cannot read the class path.
 */
public final class PollersUnderBlockHound implements BlockHoundIntegration {
    /** Creates the integration, for the service loader. */
    public PollersUnderBlockHound() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.nonBlockingThreadPredicate(others -> others.or(TransferEngine::isPollerThread));
        // BlockHound treats spinning and yielding as blocking, but an idle poller does just that, and so does a rank
        // that waits for another a moment.
        builder.allowBlockingCallsInside("io.sluice.engine.progress.IdleStrategy", "idle")
                .allowBlockingCallsInside("io.sluice.collectives.run.Lookout", "comes")
                .allowBlockingCallsInside("io.sluice.collectives.run.Lookout", "looksOn");
    }
}
