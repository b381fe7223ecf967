package io.sluice.engine.transport;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;

/**
 * Implemented by an endpoint that exchanges messages with the peer's over the control channel. On the connection's
 * event loop.
 *
 * @see EndpointContext#send
 */
@FunctionalInterface
public interface TransportMessages {
    /**
     * A message of the peer's endpoint.
     *
     * @param message the message that it passed to {@link EndpointContext#send}
     * @throws ProtocolException if it is damaged
     */
    void received(ByteBuffer message);
}
