package io.sluice.engine.transport;

import io.sluice.engine.ConnectionPath;

/**
 * The path of an attached region, as {@link io.sluice.engine.RemoteRegion#path(io.sluice.engine.MemoryKind)} returns
 * it: what belongs to a transport finds its key of the region there.
 */
public interface AttachedPath extends ConnectionPath {
    /**
     * Returns the key of the region.
     *
     * @return what the path's endpoint returned from {@link RegionAttachments#remoteKey}
     */
    RemoteKey key();
}
