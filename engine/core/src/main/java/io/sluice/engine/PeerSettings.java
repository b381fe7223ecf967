package io.sluice.engine;

import static io.sluice.engine.EngineSettings.between;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/** The part of {@link EngineOptions.Builder} for peers: where they connect, how they authenticate, and their limits. */
abstract sealed class PeerSettings extends ConnectionSettings permits EngineOptions.Builder {
    PeerSettings(EngineSettings settings) {
        super(settings);
    }

    /**
     * Where to listen. Default 127.0.0.1 and any free port; {@code SLUICE_LISTEN=HOST:PORT}. Beyond loopback a
     * {@linkplain #token token} or {@linkplain #tls TLS} is needed.
     *
     * @param host a name or literal address, without brackets; {@code 0.0.0.0} and {@code ::} are all interfaces
     * @param port 0 (any free one) to 65535
     * @return this
     * @throws IllegalArgumentException if the host has the form of neither, or the port is out of range
     */
    public EngineOptions.Builder listen(String host, int port) {
        settings.listenHost = HostAndPort.checkHost(host);
        settings.listenPort = between("port", port, 0, 65_535);
        return self();
    }

    /**
     * Does not listen: this engine only connects. {@code SLUICE_LISTEN=none}.
     *
     * @return this
     */
    public EngineOptions.Builder noListener() {
        settings.listenHost = null;
        return self();
    }

    /**
     * The host and port that {@link TransferEngine#address()} gives to peers, where they differ from the bound ones (NAT,
     * Kubernetes). Default: the bound ones; {@code SLUICE_ADVERTISE=HOST:PORT}. An engine that listens on all interfaces
     * gives the address of the host's name if an interface has it, else the source address of the default route, else an
     * interface's; the log says which, and warns if only loopback is left.
     *
     * @param host what peers can resolve, without brackets
     * @param port 0 for the bound port, to 65535
     * @return this
     * @throws IllegalArgumentException if the host is no name or address, or the port is out of range
     */
    public EngineOptions.Builder advertise(String host, int port) {
        settings.advertisedHost = HostAndPort.checkHost(host);
        settings.advertisedPort = between("port", port, 0, 65_535);
        return self();
    }

    /**
     * The most connections open at once, made by either side. Default 4,096; {@code SLUICE_MAX_CONNECTIONS}.
     *
     * @param count at least 1
     * @return this
     */
    public EngineOptions.Builder maxConnections(int count) {
        settings.maxConnections = between("maxConnections", count, 1, 1 << 20);
        return self();
    }

    /**
     * Handshakes that peers may begin in a second, not counting lanes without TLS. A burst may have as many, of which seven
     * eighths may come from one address. Handshakes above the rate are refused with {@link LimitExceededException}. Default
     * 2,000; {@code SLUICE_MAX_HANDSHAKES_PER_SECOND}.
     *
     * @param count 1 to 1,000,000
     * @return this
     */
    public EngineOptions.Builder maxHandshakesPerSecond(int count) {
        settings.maxHandshakesPerSecond = between("maxHandshakesPerSecond", count, 1, 1_000_000);
        return self();
    }

    /**
     * Sockets that peers have opened and that are not connections or lanes yet. One address takes at most seven eighths of
     * these places, and the last sixteenth is reserved for addresses that have none. Up to 1,024 more sockets wait for a
     * place; while some wait, the oldest half-open ones are refused with {@link LimitExceededException}: after one second,
     * or after five if they have been answered. Default 256; {@code SLUICE_MAX_HALF_OPEN}.
     *
     * @param count 1 to 65,536
     * @return this
     */
    public EngineOptions.Builder maxHalfOpen(int count) {
        settings.maxHalfOpen = between("maxHalfOpen", count, 1, 65_536);
        return self();
    }

    /**
     * The time in which a connecting peer must authenticate itself, from the accept of its socket; bytes that trickle in do
     * not extend it. Its first message must arrive within three tenths of it. Default 10 s;
     * {@code SLUICE_HANDSHAKE_TIMEOUT}.
     *
     * @param time 10 ms to 1 h
     * @return this
     */
    public EngineOptions.Builder handshakeTimeout(Duration time) {
        settings.handshakeTimeout = between("handshakeTimeout", time, Duration.ofMillis(10), Duration.ofHours(1));
        return self();
    }

    /**
     * Requests of a peer that may wait for their answers on a connection, on tcp. The peer is told this limit; if it exceeds
     * it, its sockets are not read until answers have been sent. Default 4,096; {@code SLUICE_MAX_SERVED_REQUESTS}.
     *
     * @param count 1 to 1,048,576
     * @return this
     */
    public EngineOptions.Builder maxServedRequests(int count) {
        settings.maxServedRequests = between("maxServedRequests", count, 1, 1 << 20);
        return self();
    }

    /**
     * Bytes that a peer may have requested and not yet received on a connection, on tcp; enforced as {@link
     * #maxServedRequests}. A single answer may be longer. Default 256 MiB; {@code SLUICE_SERVED_WINDOW_BYTES}.
     *
     * @param bytes at least 64 KiB
     * @return this
     */
    public EngineOptions.Builder servedWindowBytes(long bytes) {
        settings.servedWindowBytes = between("servedWindowBytes", bytes, EngineSettings.MIN_WINDOW_BYTES, 1L << 40);
        return self();
    }

    /**
     * Notifications that a peer may have sent and this side not yet consumed. Default 256;
     * {@code SLUICE_NOTIFICATION_CREDITS}.
     *
     * @param count 1 to 65,536
     * @return this
     */
    public EngineOptions.Builder notificationCredits(int count) {
        settings.notificationCredits = between("notificationCredits", count, 1, 65_536);
        return self();
    }

    /**
     * The longest notification that this side accepts. With the credits it bounds the memory that a peer can occupy.
     * Default 64 KiB; {@code SLUICE_MAX_NOTIFICATION_BYTES}.
     *
     * @param bytes 0 to 1 MiB
     * @return this
     */
    public EngineOptions.Builder maxNotificationBytes(int bytes) {
        settings.maxNotificationBytes = between("maxNotificationBytes", bytes, 0, 1 << 20);
        return self();
    }

    /**
     * Regions that a peer may have attached at once on a connection. Default 65,536;
     * {@code SLUICE_MAX_ATTACHED_REGIONS}.
     *
     * @param count at least 1
     * @return this
     */
    public EngineOptions.Builder maxAttachedRegions(int count) {
        settings.maxAttachedRegions = between("maxAttachedRegions", count, 1, 1 << 24);
        return self();
    }

    /**
     * The secret that both engines must know; each proves it to the other without sending it. Default: none, which is
     * allowed on loopback alone; {@code SLUICE_TOKEN}. It guards who may connect; later traffic is neither encrypted nor
     * protected against an attacker who can change packets in transit.
     *
     * @param secret at least 16 bytes, copied
     * @return this
     */
    public EngineOptions.Builder token(byte[] secret) {
        return tokens(TokenSource.of(Token.of(secret)));
    }

    /**
     * A file of tokens, which can be rotated while the engine runs; see {@link TokenSource#file}. Default: none;
     * {@code SLUICE_TOKEN_FILE}. Replaces an earlier {@linkplain #token token} or source.
     *
     * @param file checked when the engine opens, and then at handshakes
     * @return this
     */
    public EngineOptions.Builder tokenFile(Path file) {
        return tokens(TokenSource.file(file));
    }

    /**
     * The source of tokens; see {@link #token} for what they guard. Default: none. Replaces an earlier token or
     * source.
     *
     * @param source asked when the engine opens, and then at each handshake
     * @return this
     */
    public EngineOptions.Builder tokens(TokenSource source) {
        settings.tokens = Objects.requireNonNull(source, "source");
        return self();
    }

    /**
     * Mutual TLS on the control channel of every connection and, with {@link TlsOptions#data(boolean)}, on tcp's data. Both
     * engines must have it or neither; if there is a token, both are required. Default: none; {@code SLUICE_TLS_CERT},
     * {@code SLUICE_TLS_KEY} and {@code SLUICE_TLS_TRUST}, three files in PEM, or {@code SLUICE_TLS_KEYSTORE} and {@code
     * SLUICE_TLS_KEYSTORE_PASSWORD}; with either, {@code SLUICE_TLS_DATA} and {@code SLUICE_TLS_VERIFY_HOST}.
     *
     * @param options whose files are read when the engine opens
     * @return this
     */
    public EngineOptions.Builder tls(TlsOptions options) {
        settings.tls = Objects.requireNonNull(options, "options");
        return self();
    }

    /**
     * Decides which peers may connect, and which regions they may look up and attach. Default: none, so that every
     * authenticated peer has all rights; no variable. {@link AllowedPeers} decides by the peer's name.
     *
     * @param authorizer asked on pollers
     * @return this
     */
    public EngineOptions.Builder authorizer(PeerAuthorizer authorizer) {
        settings.authorizer = Objects.requireNonNull(authorizer, "authorizer");
        return self();
    }

    /**
     * Lets an engine without a token and without TLS listen beyond loopback: any host that reaches the port may
     * connect. Default false; {@code SLUICE_ALLOW_UNAUTHENTICATED_PEERS=true}.
     *
     * @param allow true to take the risk
     * @return this
     */
    public EngineOptions.Builder allowUnauthenticatedPeers(boolean allow) {
        settings.allowUnauthenticatedPeers = allow;
        return self();
    }
}
