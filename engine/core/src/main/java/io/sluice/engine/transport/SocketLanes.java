package io.sluice.engine.transport;

import io.sluice.jni.Sockets;

/**
 * Implemented by an endpoint whose lanes are sockets that the engine connects and authenticates. Called on the
 * connection's event loop.
 *
 * @see EndpointContext#openLanes
 */
public interface SocketLanes {
    /**
     * Called when a lane requested by {@link EndpointContext#openLanes}, on either side, is connected and
     * authenticated.
     *
     * @param index 0 to the count − 1; each once
     * @param descriptor the socket, which the endpoint must close from now on, even if this throws
     */
    void laneOpened(int index, int descriptor);

    /**
     * Like {@link #laneOpened(int, int)}, for a lane with TLS. By default closes the socket; an endpoint that requests
     * such lanes overrides this.
     *
     * @param index from 0
     * @param descriptor the socket, which the endpoint must close from now on
     * @param stream carries all bytes; it may have received some already
     */
    default void laneOpened(int index, int descriptor, SecureStream stream) {
        Sockets.close(descriptor);
    }
}
