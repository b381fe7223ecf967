package io.sluice.engine;

import java.util.Set;

/**
 * One way from this engine to a peer: a transport's end of a connection. A connection has several at once if no single transport
 * reaches all memory of the two engines. Any thread.
 */
public interface ConnectionPath {
    /**
     * The transport that carries what goes over it.
     *
     * @return the provider's name, such as {@code tcp}; its figures are those of {@link EngineMetrics#transports()}
     */
    String transport();

    /**
     * The kinds of the peer's memory that it may reach. It need not reach every region of them: that is settled when a region is
     * attached, and {@link RemoteRegion#path()} tells.
     *
     * @return an unmodifiable set
     */
    Set<MemoryKind> memory();

    /**
     * How many lanes it has.
     *
     * @param state in which they are
     * @return the count, now; 0 for a transport without lanes
     */
    int lanes(TransportMetrics.PathState state);

    /**
     * Why it was taken: for the connection, or for the region whose path it is.
     *
     * @return a sentence for people; its words may change
     */
    String reason();
}
