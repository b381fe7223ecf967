package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RemoteRegion;

/** A peer's region that nobody owns. */
record FakeRemoteRegion(Connection connection, RegionDescriptor descriptor) implements RemoteRegion {}
