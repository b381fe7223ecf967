package io.sluice.engine.memory;

import io.sluice.engine.ConnectionPath;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.RegionAttachments;

/**
 * A path of a connection, as regions are attached over it.
 *
 * @param index its place in the connection, as it is told on the wire
 * @param transport of it
 * @param endpoint of this side, as far as it takes part in attaching
 * @param face what users see of it
 */
public record AttachPath(int index, OpenTransport transport, RegionAttachments endpoint, ConnectionPath face) {}
