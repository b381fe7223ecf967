package io.sluice.engine.memory;

import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.RemoteKey;
import java.util.Set;

/**
 * A path that a remote region is reached by.
 *
 * @param path of the connection
 * @param key what is presented over it
 * @param reason why it was taken for the region
 */
record RegionPath(AttachPath path, RemoteKey key, String reason) implements ConnectionPath {
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
