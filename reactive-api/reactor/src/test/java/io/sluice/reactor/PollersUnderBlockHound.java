package io.sluice.reactor;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;
import reactor.core.scheduler.Schedulers;

/** Makes a blocking call on a poller an error, for the rest of this JVM's life. */
final class PollersUnderBlockHound implements BlockHoundIntegration {
    static void install() {
        BlockHound.install(new PollersUnderBlockHound());
    }

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.nonBlockingThreadPredicate(others -> others.or(Schedulers::isNonBlockingThread));
        // BlockHound takes spinning and yielding for blocking; that is what an idle poller is there to do.
        builder.allowBlockingCallsInside("io.sluice.engine.progress.IdleStrategy", "idle");
        // The bootstrap draws its nonces from the operating system's generator, which answers without waiting.
        builder.allowBlockingCallsInside("java.security.SecureRandom", "nextBytes");
    }
}
