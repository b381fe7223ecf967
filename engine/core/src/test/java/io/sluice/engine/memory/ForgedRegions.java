package io.sluice.engine.memory;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.transport.RemoteKey;
import java.util.Arrays;

/** Remote regions with other keys than the peer gave, for tests of transports. */
public final class ForgedRegions {
    private ForgedRegions() {}

    /** The keys that the transport presents for a region. */
    public static RemoteKey keyOf(RemoteRegion region) {
        return ((AttachedRegion) region).key();
    }

    /** The same region to the engine, but the transport presents another key. */
    public static RemoteRegion withKey(RemoteRegion genuine, RemoteKey key) {
        return forged(genuine.connection(), (AttachedRegion) genuine, genuine.descriptor(), key);
    }

    /** A region of a connection that presents a key over the path of a genuine one, for every kind of local memory. */
    static AttachedRegion forged(
            Connection connection, AttachedRegion genuine, RegionDescriptor descriptor, RemoteKey key) {
        RegionPath taken = (RegionPath) genuine.path();
        key.path(taken.path().index());
        RegionPath forged = new RegionPath(taken.path(), key, "it is forged");
        RegionPath[] copies = new RegionPath[MemoryKind.values().length];
        Arrays.fill(copies, forged);
        return new AttachedRegion(connection, descriptor, copies, new RegionPath[copies.length], forged, forged);
    }
}
