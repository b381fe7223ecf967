import io.sluice.reactor.blockhound.PollersUnderBlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Transfers as {@code Mono} and {@code Flux}. */
module io.sluice.reactor {
    requires static org.jspecify;
    requires static reactor.blockhound;
    // Needed only to observe transfers. Not transitive, or all other users would need them to compile.
    requires static micrometer.observation;
    requires static micrometer.commons;
    requires static context.propagation;
    // Needed only with collectives.
    requires static io.sluice.collectives;
    // Needed only with experts.
    requires static io.sluice.experts;
    // Needed only with either of them on GPUs.
    requires static io.sluice.collectives.cuda;
    requires static io.sluice.experts.cuda;
    requires transitive io.sluice.engine;
    requires transitive org.reactivestreams;
    requires transitive reactor.core;

    exports io.sluice.reactor;
    exports io.sluice.reactor.blocks;
    exports io.sluice.reactor.observation;
    exports io.sluice.reactor.recovery;

    provides BlockHoundIntegration with
            PollersUnderBlockHound;
}
