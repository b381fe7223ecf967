package io.sluice.engine.flow;

import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.InlineOperations;
import org.jspecify.annotations.Nullable;

/**
 * A path of a connection, as its flow posts to it.
 *
 * @param transport its transport's place among the engine's
 * @param capabilities its transport's
 * @param endpoint where to post
 * @param counters what is counted of it; the peer's and the overflows are the same for all paths of a connection
 */
public record FlowPath(int transport, Capabilities capabilities, Endpoint endpoint, ConnectionCounters counters) {
    /** What carries small work out at once; null if nothing does. */
    @Nullable
    InlineOperations inline() {
        return endpoint instanceof InlineOperations inline ? inline : null;
    }
}
