package io.sluice.engine;

/** Why a socket that a peer has opened to this engine became neither a connection nor a lane. */
public enum RefusalReason {
    /**
     * The token is wrong, the TLS handshake failed, one side alone has a token or TLS, the peer is not authorized, or a lane
     * belongs to no connection.
     */
    AUTHENTICATION,
    /** More handshakes came than {@link EngineOptions#maxHandshakesPerSecond()}. */
    RATE,
    /** Others waited for its place ({@link EngineOptions#maxHalfOpen()}) and it was slow, or it was one too many to wait. */
    HALF_OPEN,
    /** There are {@link EngineOptions#maxConnections()} connections. */
    CONNECTIONS,
    /** The bytes received are no handshake, or a truncated one. */
    MALFORMED,
    /**
     * The handshake took longer than {@link EngineOptions#handshakeTimeout()}, or its socket was silent for seconds.
     */
    TIMEOUT,
    /** The peer left after this engine had answered it, as a peer does that has another token. */
    ABANDONED,
    /** The two engines have no transport in common, or this engine could not set its end up. */
    TRANSPORT,
    /** The peer looks for another engine. */
    WRONG_ENGINE,
    /** The peer does not know the {@link Integrity} that this engine asks for. */
    INTEGRITY,
    /** The engine was draining or closed. */
    SHUTTING_DOWN
}
