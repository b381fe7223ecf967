package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionPath;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;

/** A peer's region without an owner. */
record FakeRemoteRegion(Connection connection, RegionDescriptor descriptor) implements RemoteRegion {
    @Override
    public ConnectionPath path() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ConnectionPath path(MemoryKind local) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ConnectionPath wordPath() {
        throw new UnsupportedOperationException();
    }
}
