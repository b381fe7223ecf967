package io.sluice.engine.memory;

import io.sluice.engine.RemoteRegion;
import io.sluice.engine.transport.RemoteKey;

/** Remote regions with other keys than the peer gave, for tests of transports. */
public final class ForgedRegions {
    private ForgedRegions() {}

    /** What the transport presents for a region. */
    public static RemoteKey keyOf(RemoteRegion region) {
        return ((AttachedRegion) region).key();
    }

    /** The same region to the engine, but the transport presents another key. */
    public static RemoteRegion withKey(RemoteRegion genuine, RemoteKey key) {
        return new AttachedRegion(((AttachedRegion) genuine).connection(), genuine.descriptor(), key);
    }
}
