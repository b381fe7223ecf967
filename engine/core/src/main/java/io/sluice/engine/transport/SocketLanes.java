package io.sluice.engine.transport;

import io.sluice.jni.Sockets;

/**
 * Of an endpoint whose lanes are sockets that the engine connects and authenticates. On the connection's event loop.
 *
 * @see EndpointContext#openLanes
 */
public interface SocketLanes {
    /**
     * A lane asked for by {@link EndpointContext#openLanes}, by this side or the other, is connected and authenticated.
     *
     * @param index 0 to the count − 1; each once
     * @param descriptor the socket, now the endpoint's own to close, also when this throws
     */
    void laneOpened(int index, int descriptor);

    /**
     * As {@link #laneOpened(int, int)}, of a lane with TLS; closes it, unless the endpoint asks for such lanes.
     *
     * @param index from 0
     * @param descriptor of the connected socket, which belongs to the endpoint from now on
     * @param stream through which all bytes go; it may have received some already
     */
    default void laneOpened(int index, int descriptor, SecureStream stream) {
        Sockets.close(descriptor);
    }
}
