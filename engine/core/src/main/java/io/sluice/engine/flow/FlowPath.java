package io.sluice.engine.flow;

import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.InlineOperations;
import org.jspecify.annotations.Nullable;

/**
 * A path of a connection to which its flow posts.
 *
 * @param transport its transport's position among the engine's transports
 * @param capabilities its transport's capabilities
 * @param endpoint the endpoint to post to
 * @param counters its counters; those of the peer and of overflows are the same for all paths of a connection
 */
public record FlowPath(int transport, Capabilities capabilities, Endpoint endpoint, ConnectionCounters counters) {
    /** Returns the endpoint's inline operations; null if it has none. */
    @Nullable
    InlineOperations inline() {
        return endpoint instanceof InlineOperations inline ? inline : null;
    }
}
