package io.sluice.reactor.blockhound;

import io.sluice.engine.TransferEngine;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Makes a blocking call on a poller an error where BlockHound is installed: {@code BlockHound.install()} finds it by itself.
 *
 * <p>BlockHound works on the class path alone. If Sluice is on the module path, it takes
 * {@code --add-reads io.sluice.reactor=ALL-UNNAMED}, as a module does not see the class path.
 */
public final class PollersUnderBlockHound implements BlockHoundIntegration {
    /** For the service loader. */
    public PollersUnderBlockHound() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.nonBlockingThreadPredicate(others -> others.or(TransferEngine::isPollerThread));
        // BlockHound takes spinning and yielding for blocking; that is what an idle poller is there to do.
        builder.allowBlockingCallsInside("io.sluice.engine.progress.IdleStrategy", "idle");
    }
}
