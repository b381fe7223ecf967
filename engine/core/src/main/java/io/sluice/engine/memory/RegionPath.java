package io.sluice.engine.memory;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.AttachedPath;
import io.sluice.engine.transport.RemoteKey;
import java.util.Set;

/**
 * A path over which a remote region is reached.
 *
 * @param path the connection's path
 * @param key the key for that path
 * @param reason why it was chosen for the region
 */
record RegionPath(AttachPath path, RemoteKey key, String reason) implements AttachedPath {
    @Override
    public String transport() {
        return path.face().transport();
    }

    @Override
    public Set<MemoryKind> memory() {
        return path.face().memory();
    }

    @Override
    public int lanes(PathState state) {
        return path.face().lanes(state);
    }

    @Override
    public String toString() {
        return "ConnectionPath[" + transport() + ", " + reason + "]";
    }
}
