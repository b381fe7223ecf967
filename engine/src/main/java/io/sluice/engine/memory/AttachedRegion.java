package io.sluice.engine.memory;

import io.sluice.engine.Connection;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.transport.RemoteKey;

/**
 * A peer's region as one connection reaches it.
 *
 * @param connection the one
 * @param descriptor what was attached
 * @param key what the transport presents
 */
public record AttachedRegion(Connection connection, RegionDescriptor descriptor, RemoteKey key)
        implements RemoteRegion {
    @Override
    public String toString() {
        return "RemoteRegion[" + descriptor + "]";
    }
}
