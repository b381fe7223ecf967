package io.sluice.engine.transport;

/**
 * Of an endpoint that takes writes and reads of pages that lie anywhere on both sides as one {@linkplain WorkRequest#hasPages() work
 * request}. For one without it the engine posts a request for each run of pages that follow each other at the target, in as many
 * pieces of local memory as {@link Capabilities#gatherElements()} allows.
 */
@FunctionalInterface
public interface PageLists {
    /**
     * Whether it takes such requests for a region. On the connection's event loop.
     *
     * @param remote the region that the pages are of or go to, made by {@link RegionAttachments#remoteKey}
     * @return true if it takes them, always the same for a key
     */
    boolean takesPages(RemoteKey remote);
}
