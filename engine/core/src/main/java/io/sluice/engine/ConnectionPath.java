package io.sluice.engine;

import java.util.Set;

/**
 * A path from this engine to a peer: one transport's endpoint of a connection. A connection has several paths if no
 * single transport reaches all memory of the two engines. All methods may be called from any thread.
 */
public interface ConnectionPath {
    /**
     * Returns the transport of this path.
     *
     * @return the provider's name, such as {@code tcp}, as in {@link EngineMetrics#transports()}
     */
    String transport();

    /**
     * Returns the kinds of the peer's memory that this path may reach. It may not reach every region of a kind: that is
     * decided when a region is attached, and {@link RemoteRegion#path()} returns the result.
     *
     * @return an unmodifiable set
     */
    Set<MemoryKind> memory();

    /**
     * Returns the number of lanes in a state.
     *
     * @param state the lanes' state
     * @return the current count; 0 for a transport without lanes
     */
    int lanes(TransportMetrics.PathState state);

    /**
     * Says why this path was chosen for the connection, or for the region whose path it is.
     *
     * @return a sentence for people; its wording may change
     */
    String reason();
}
