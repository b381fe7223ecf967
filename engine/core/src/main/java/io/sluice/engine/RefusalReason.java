package io.sluice.engine;

/** Why a socket that a peer opened to this engine became neither a connection nor a lane. */
public enum RefusalReason {
    /**
     * The token is wrong, the TLS handshake failed, only one side has a token or TLS, the peer is not authorized, or a
     * lane belongs to no connection.
     */
    AUTHENTICATION,
    /** There were more handshakes than {@link EngineOptions#maxHandshakesPerSecond()}. */
    RATE,
    /**
     * The socket was slow while others waited for its place ({@link EngineOptions#maxHalfOpen()}), or too many were
     * waiting.
     */
    HALF_OPEN,
    /** The engine has {@link EngineOptions#maxConnections()} connections. */
    CONNECTIONS,
    /** The bytes received are not a handshake, or a truncated one. */
    MALFORMED,
    /**
     * The handshake took longer than {@link EngineOptions#handshakeTimeout()}, or the socket was silent for seconds.
     */
    TIMEOUT,
    /** The peer closed the socket after this engine had answered, as a peer with another token does. */
    ABANDONED,
    /** The two engines have no transport in common, or this engine could not set up its end. */
    TRANSPORT,
    /** The peer expected another engine. */
    WRONG_ENGINE,
    /** The peer does not support the {@link Integrity} that this engine asks for. */
    INTEGRITY,
    /** The engine was draining or closed. */
    SHUTTING_DOWN
}
