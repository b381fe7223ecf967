package io.sluice.engine.transport;

/**
 * Implemented by an endpoint that accepts writes and reads of pages anywhere on both sides as one {@linkplain
 * WorkRequest#hasPages() work request}. For other endpoints the engine posts a request for each run of pages that are
 * adjacent in the remote region, in as many pieces of local memory as {@link Capabilities#gatherElements()} allows.
 */
@FunctionalInterface
public interface PageLists {
    /**
     * Returns whether such requests are accepted for a region. Called on the connection's event loop.
     *
     * @param remote the remote region, made by {@link RegionAttachments#remoteKey}
     * @return true if they are accepted; always the same for a key
     */
    boolean takesPages(RemoteKey remote);
}
