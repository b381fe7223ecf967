package io.sluice.engine.memory;

import io.sluice.engine.ConnectionPath;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.transport.RegionAttachments;

/**
 * A path of a connection over which regions are attached.
 *
 * @param index the path's position in the connection, as on the wire
 * @param transport the path's transport
 * @param endpoint this side's endpoint, as far as it takes part in attaching
 * @param face the path as users see it
 */
public record AttachPath(int index, OpenTransport transport, RegionAttachments endpoint, ConnectionPath face) {}
