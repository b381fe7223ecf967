import io.sluice.reactor.blockhound.PollersUnderBlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Transfers as {@code Mono} and {@code Flux}. */
module io.sluice.reactor {
    requires static org.jspecify;
    requires static reactor.blockhound;
    requires transitive io.sluice.engine;
    requires transitive org.reactivestreams;
    requires transitive reactor.core;

    exports io.sluice.reactor;

    provides BlockHoundIntegration with
            PollersUnderBlockHound;
}
