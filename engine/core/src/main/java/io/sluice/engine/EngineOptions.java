package io.sluice.engine;

import io.sluice.engine.transport.TransportOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All settings of an engine. Immutable; made by {@link #builder()}, or from the environment by
 * {@link #fromEnvironment()}. Each method of {@link Builder} documents its default and its variable.
 */
public final class EngineOptions {
    private final Builder settings;

    private EngineOptions(Builder settings) {
        this.settings = new Builder(settings);
    }

    /**
     * A builder that holds the defaults.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The defaults.
     *
     * @return options as an untouched builder gives
     */
    public static EngineOptions defaults() {
        return builder().build();
    }

    /**
     * The defaults, overridden by the {@code SLUICE_*} variables of this process.
     *
     * @return the options
     * @throws IllegalArgumentException if a variable cannot be read; the message names it
     */
    public static EngineOptions fromEnvironment() {
        return builder().environment(System.getenv()).build();
    }

    /**
     * See {@link Builder#transport(TransportOptions)}.
     *
     * @param <T> the transport's class of options
     * @param type the same
     * @return the options that were given, or {@code null} if none were
     */
    public <T extends TransportOptions> @Nullable T transport(Class<T> type) {
        return type.cast(settings.transportOptions.get(type));
    }

    /**
     * The variables of one transport among those that {@link Builder#environment} was given.
     *
     * @param prefix {@code SLUICE_VERBS_}, for example
     * @return variables by their whole name
     */
    public Map<String, String> variables(String prefix) {
        Map<String, String> found = new TreeMap<>();
        settings.variables.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                found.put(name, value);
            }
        });
        return found;
    }

    /**
     * A builder that holds these settings.
     *
     * @return a new builder
     */
    public Builder toBuilder() {
        return new Builder(settings);
    }

    /**
     * See {@link Builder#listen(String, int)}.
     *
     * @return the host to bind, or {@code null} if the engine does not listen
     */
    public @Nullable String listenHost() {
        return settings.listenHost;
    }

    /**
     * See {@link Builder#listen(String, int)}.
     *
     * @return 0 for any free port
     */
    public int listenPort() {
        return settings.listenPort;
    }

    /**
     * See {@link Builder#advertise(String, int)}.
     *
     * @return the host that is announced to peers, or {@code null} for the bound one
     */
    public @Nullable String advertisedHost() {
        return settings.advertisedHost;
    }

    /**
     * See {@link Builder#advertise(String, int)}.
     *
     * @return the port that is announced to peers, 0 for the bound one
     */
    public int advertisedPort() {
        return settings.advertisedPort;
    }

    /**
     * See {@link Builder#transports(List)}.
     *
     * @return names in order of preference; empty for all that are available
     */
    public List<String> transports() {
        return settings.transports;
    }

    /**
     * See {@link Builder#pollers(int)}.
     *
     * @return the number of poller threads
     */
    public int pollers() {
        return settings.pollers;
    }

    /**
     * See {@link Builder#windowOperations(int)}.
     *
     * @return operations a connection
     */
    public int windowOperations() {
        return settings.windowOperations;
    }

    /**
     * See {@link Builder#windowBytes(long)}.
     *
     * @return bytes a connection
     */
    public long windowBytes() {
        return settings.windowBytes;
    }

    /**
     * See {@link Builder#engineWindowOperations(int)}.
     *
     * @return operations over all connections
     */
    public int engineWindowOperations() {
        return settings.engineWindowOperations;
    }

    /**
     * See {@link Builder#engineWindowBytes(long)}.
     *
     * @return bytes over all connections
     */
    public long engineWindowBytes() {
        return settings.engineWindowBytes;
    }

    /**
     * See {@link Builder#maxPending(int)}.
     *
     * @return transfers a connection
     */
    public int maxPending() {
        return settings.maxPending;
    }

    /**
     * See {@link Builder#maxConnections(int)}.
     *
     * @return connections
     */
    public int maxConnections() {
        return settings.maxConnections;
    }

    /**
     * See {@link Builder#maxHandshakesPerSecond(int)}.
     *
     * @return handshakes a second
     */
    public int maxHandshakesPerSecond() {
        return settings.maxHandshakesPerSecond;
    }

    /**
     * See {@link Builder#maxHalfOpen(int)}.
     *
     * @return sockets
     */
    public int maxHalfOpen() {
        return settings.maxHalfOpen;
    }

    /**
     * See {@link Builder#handshakeTimeout(Duration)}.
     *
     * @return the time-out
     */
    public Duration handshakeTimeout() {
        return settings.handshakeTimeout;
    }

    /**
     * See {@link Builder#maxServedRequests(int)}.
     *
     * @return requests a connection
     */
    public int maxServedRequests() {
        return settings.maxServedRequests;
    }

    /**
     * See {@link Builder#servedWindowBytes(long)}.
     *
     * @return bytes a connection
     */
    public long servedWindowBytes() {
        return settings.servedWindowBytes;
    }

    /**
     * See {@link Builder#lanes(int)}.
     *
     * @return lanes a connection
     */
    public int lanes() {
        return settings.lanes;
    }

    /**
     * See {@link Builder#livenessTimeout(Duration)}.
     *
     * @return the time-out
     */
    public Duration livenessTimeout() {
        return settings.livenessTimeout;
    }

    /**
     * See {@link Builder#connectTimeout(Duration)}.
     *
     * @return the time-out
     */
    public Duration connectTimeout() {
        return settings.connectTimeout;
    }

    /**
     * See {@link Builder#notificationCredits(int)}.
     *
     * @return notifications
     */
    public int notificationCredits() {
        return settings.notificationCredits;
    }

    /**
     * See {@link Builder#maxNotificationBytes(int)}.
     *
     * @return bytes
     */
    public int maxNotificationBytes() {
        return settings.maxNotificationBytes;
    }

    /**
     * See {@link Builder#maxAttachedRegions(int)}.
     *
     * @return regions a connection
     */
    public int maxAttachedRegions() {
        return settings.maxAttachedRegions;
    }

    /**
     * See {@link Builder#spin(Duration)}.
     *
     * @return the time
     */
    public Duration spin() {
        return settings.spin;
    }

    /**
     * See {@link Builder#yield(Duration)}.
     *
     * @return the time
     */
    public Duration yield() {
        return settings.yield;
    }

    /**
     * See {@link Builder#priorityAging(Duration)}.
     *
     * @return how much later a transfer of the next higher priority must be submitted to take turns with one that waits
     */
    public Duration priorityAging() {
        return settings.priorityAging;
    }

    /**
     * See {@link Builder#stallThreshold(Duration)}.
     *
     * @return the time
     */
    public Duration stallThreshold() {
        return settings.stallThreshold;
    }

    /**
     * See {@link Builder#name(String)}.
     *
     * @return the name, or {@code null} if there is none
     */
    public @Nullable String name() {
        return settings.name;
    }

    /**
     * See {@link Builder#slowTransfer(Duration)}.
     *
     * @return the time
     */
    public Duration slowTransfer() {
        return settings.slowTransfer;
    }

    /**
     * See {@link Builder#observer(EngineObserver)}.
     *
     * @return in the order in which they were added; empty if there are none
     */
    public List<EngineObserver> observers() {
        return settings.observers;
    }

    /**
     * See {@link Builder#integrity(Integrity)}.
     *
     * @return what this engine asks for
     */
    public Integrity integrity() {
        return settings.integrity;
    }

    /**
     * See {@link Builder#socketBufferBytes(int)}.
     *
     * @return bytes, 0 for the system's own
     */
    public int socketBufferBytes() {
        return settings.socketBufferBytes;
    }

    /**
     * See {@link Builder#token(byte[])}.
     *
     * @return a copy of the secret's bytes, or {@code null} if there is none or it comes from elsewhere
     */
    public byte @Nullable [] token() {
        return settings.tokens instanceof FixedToken fixed ? fixed.token().secret() : null;
    }

    /**
     * See {@link Builder#tokens(TokenSource)}.
     *
     * @return where the tokens come from, or {@code null} if there are none
     */
    public @Nullable TokenSource tokens() {
        return settings.tokens;
    }

    /**
     * See {@link Builder#tls(TlsOptions)}.
     *
     * @return the settings, or {@code null} if sockets are plain
     */
    public @Nullable TlsOptions tls() {
        return settings.tls;
    }

    /**
     * See {@link Builder#pathPolicy(PathPolicy)}.
     *
     * @return asked on pollers when regions are attached
     */
    public PathPolicy pathPolicy() {
        return settings.pathPolicy;
    }

    /**
     * See {@link Builder#authorizer(PeerAuthorizer)}.
     *
     * @return who decides, or {@code null} if every authenticated peer may do everything
     */
    public @Nullable PeerAuthorizer authorizer() {
        return settings.authorizer;
    }

    /**
     * See {@link Builder#allowUnauthenticatedPeers(boolean)}.
     *
     * @return whether an engine without a token and without TLS may listen beyond loopback
     */
    public boolean allowUnauthenticatedPeers() {
        return settings.allowUnauthenticatedPeers;
    }

    /** Leaves the token out. */
    @Override
    public String toString() {
        return "EngineOptions[listen=" + HostAndPort.text(String.valueOf(settings.listenHost), settings.listenPort)
                + ", transports="
                + settings.transports + ", window=" + settings.windowOperations + " operations/" + settings.windowBytes
                + " bytes, lanes=" + settings.lanes + ", token=" + (settings.tokens != null) + ", tls=" + settings.tls
                + "]";
    }

    /** Collects settings. Not for use by several threads. */
    public static final class Builder {
        private static final int MIN_WINDOW_BYTES = 64 * 1024;
        private static final int MAX_NAME_CHARACTERS = 64;
        private static final Set<String> SECRETS = Set.of("SLUICE_TOKEN", TlsVariables.PASSWORD);

        private @Nullable String name;
        private @Nullable String listenHost = "127.0.0.1";
        private int listenPort;
        private @Nullable String advertisedHost;
        private int advertisedPort;
        private List<String> transports = List.of();
        private int pollers = 1;
        private int windowOperations = 256;
        private long windowBytes = 64L << 20;
        private int engineWindowOperations = 65_536;
        private long engineWindowBytes = 1L << 30;
        private int maxPending = 65_536;
        private int maxConnections = 4096;
        private int maxHandshakesPerSecond = 2000;
        private int maxHalfOpen = 256;
        private Duration handshakeTimeout = Duration.ofSeconds(10);
        private int maxServedRequests = 4096;
        private long servedWindowBytes = 256L << 20;
        private int lanes = 1;
        private Duration livenessTimeout = Duration.ofSeconds(10);
        private Duration connectTimeout = Duration.ofSeconds(10);
        private int notificationCredits = 256;
        private int maxNotificationBytes = 64 * 1024;
        private int maxAttachedRegions = 65_536;
        private Duration spin = Duration.ofNanos(50_000);
        private Duration yield = Duration.ofMillis(1);
        private Duration stallThreshold = Duration.ofMillis(200);
        private Duration slowTransfer = Duration.ofSeconds(1);
        private List<EngineObserver> observers = List.of();
        private Duration priorityAging = Duration.ofMillis(100);
        private Integrity integrity = Integrity.NONE;
        private int socketBufferBytes;
        private @Nullable TokenSource tokens;
        private @Nullable TlsOptions tls;
        private @Nullable PeerAuthorizer authorizer;
        private PathPolicy pathPolicy = PathPolicy.inOrder();
        private boolean allowUnauthenticatedPeers;
        private Map<Class<? extends TransportOptions>, TransportOptions> transportOptions = Map.of();
        private Map<String, String> variables = Map.of();

        private Builder() {}

        private Builder(Builder other) {
            name = other.name;
            listenHost = other.listenHost;
            listenPort = other.listenPort;
            advertisedHost = other.advertisedHost;
            advertisedPort = other.advertisedPort;
            transports = other.transports;
            pollers = other.pollers;
            windowOperations = other.windowOperations;
            windowBytes = other.windowBytes;
            engineWindowOperations = other.engineWindowOperations;
            engineWindowBytes = other.engineWindowBytes;
            maxPending = other.maxPending;
            maxConnections = other.maxConnections;
            maxHandshakesPerSecond = other.maxHandshakesPerSecond;
            maxHalfOpen = other.maxHalfOpen;
            handshakeTimeout = other.handshakeTimeout;
            maxServedRequests = other.maxServedRequests;
            servedWindowBytes = other.servedWindowBytes;
            lanes = other.lanes;
            livenessTimeout = other.livenessTimeout;
            connectTimeout = other.connectTimeout;
            notificationCredits = other.notificationCredits;
            maxNotificationBytes = other.maxNotificationBytes;
            maxAttachedRegions = other.maxAttachedRegions;
            spin = other.spin;
            yield = other.yield;
            stallThreshold = other.stallThreshold;
            slowTransfer = other.slowTransfer;
            observers = other.observers;
            priorityAging = other.priorityAging;
            integrity = other.integrity;
            socketBufferBytes = other.socketBufferBytes;
            tokens = other.tokens;
            tls = other.tls;
            authorizer = other.authorizer;
            pathPolicy = other.pathPolicy;
            allowUnauthenticatedPeers = other.allowUnauthenticatedPeers;
            transportOptions = Map.copyOf(other.transportOptions);
            variables = Map.copyOf(other.variables);
        }

        /**
         * Distinguishes the engine's figures from those of other engines of the process. Default: none, and the first
         * digits of the engine's identity take its place; {@code SLUICE_NAME}.
         *
         * @param name 1 to 64 printable characters
         * @return this
         */
        public Builder name(String name) {
            int length = name.codePointCount(0, name.length());
            if (length < 1 || length > MAX_NAME_CHARACTERS || !name.codePoints().allMatch(Builder::isPrintable)) {
                throw new IllegalArgumentException(
                        "name has 1 to " + MAX_NAME_CHARACTERS + " printable characters; this one does not");
            }
            this.name = name;
            return this;
        }

        private static boolean isPrintable(int character) {
            return switch (Character.getType(character)) {
                case Character.CONTROL,
                        Character.FORMAT,
                        Character.SURROGATE,
                        Character.PRIVATE_USE,
                        Character.UNASSIGNED,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR -> false;
                default -> true;
            };
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
        public Builder listen(String host, int port) {
            this.listenHost = HostAndPort.checkHost(host);
            this.listenPort = (int) between("port", port, 0, 65_535);
            return this;
        }

        /**
         * Does not listen: this engine only connects. {@code SLUICE_LISTEN=none}.
         *
         * @return this
         */
        public Builder noListener() {
            this.listenHost = null;
            return this;
        }

        /**
         * The host and port that {@link TransferEngine#address()} tells peers, where they differ from the bound ones (NAT,
         * Kubernetes). Default: the bound ones; {@code SLUICE_ADVERTISE=HOST:PORT}. An engine that listens on all interfaces
         * tells the address of the machine's name if an interface has it, else the one that the default route leaves by, else
         * an interface's; the log says which, and warns where only loopback is left.
         *
         * @param host what peers can resolve, without brackets
         * @param port 0 for the bound port, to 65535
         * @return this
         * @throws IllegalArgumentException if the host is no name or address, or the port is out of range
         */
        public Builder advertise(String host, int port) {
            this.advertisedHost = HostAndPort.checkHost(host);
            this.advertisedPort = (int) between("port", port, 0, 65_535);
            return this;
        }

        /**
         * The transports to use, the most preferred first. Default: all that are available; {@code SLUICE_TRANSPORTS},
         * separated by commas ({@code auto} is the default).
         * A connection takes the first that both engines have, and further ones for memory that the first does not
         * reach. A transport that a named one depends on, as shm depends on tcp, is opened even if it is not named.
         *
         * @param names of providers
         * @return this
         */
        public Builder transports(List<String> names) {
            this.transports = List.copyOf(names);
            return this;
        }

        /**
         * Poller threads; each connection is served by one. Default 1; {@code SLUICE_POLLERS}.
         *
         * @param count 1 to 256
         * @return this
         */
        public Builder pollers(int count) {
            this.pollers = (int) between("pollers", count, 1, 256);
            return this;
        }

        /**
         * The most operations in flight on a connection. Default 256; {@code SLUICE_WINDOW_OPERATIONS}.
         *
         * @param count 1 to 65,536
         * @return this
         */
        public Builder windowOperations(int count) {
            this.windowOperations = (int) between("windowOperations", count, 1, 65_536);
            return this;
        }

        /**
         * The most bytes in flight on a connection. Default 64 MiB; {@code SLUICE_WINDOW_BYTES}.
         *
         * @param bytes at least 64 KiB
         * @return this
         */
        public Builder windowBytes(long bytes) {
            this.windowBytes = between("windowBytes", bytes, MIN_WINDOW_BYTES, 1L << 40);
            return this;
        }

        /**
         * The most operations in flight over all connections. Default 65,536; {@code SLUICE_ENGINE_WINDOW_OPERATIONS}.
         *
         * @param count 1 to 2,097,152
         * @return this
         */
        public Builder engineWindowOperations(int count) {
            this.engineWindowOperations = (int) between("engineWindowOperations", count, 1, 1 << 21);
            return this;
        }

        /**
         * The most bytes in flight over all connections. Default 1 GiB; {@code SLUICE_ENGINE_WINDOW_BYTES}. If it is less
         * than {@link #windowBytes(long)}, chunks are an eighth of this at most.
         *
         * @param bytes at least 64 KiB
         * @return this
         */
        public Builder engineWindowBytes(long bytes) {
            this.engineWindowBytes = between("engineWindowBytes", bytes, MIN_WINDOW_BYTES, 1L << 40);
            return this;
        }

        /**
         * The most transfers submitted on a connection and not ended. Default 65,536; {@code SLUICE_MAX_PENDING}.
         *
         * @param count at least 1
         * @return this
         */
        public Builder maxPending(int count) {
            this.maxPending = (int) between("maxPending", count, 1, 1 << 24);
            return this;
        }

        /**
         * The most connections open at once, made by either side. Default 4,096; {@code SLUICE_MAX_CONNECTIONS}.
         *
         * @param count at least 1
         * @return this
         */
        public Builder maxConnections(int count) {
            this.maxConnections = (int) between("maxConnections", count, 1, 1 << 20);
            return this;
        }

        /**
         * Handshakes that peers may begin in a second, lanes without TLS apart; so many may come at once, seven eighths of them
         * from one address. Handshakes above the rate are refused with {@link LimitExceededException}. Default 2,000;
         * {@code SLUICE_MAX_HANDSHAKES_PER_SECOND}.
         *
         * @param count 1 to 1,000,000
         * @return this
         */
        public Builder maxHandshakesPerSecond(int count) {
            this.maxHandshakesPerSecond = (int) between("maxHandshakesPerSecond", count, 1, 1_000_000);
            return this;
        }

        /**
         * Sockets that peers have opened and that are not connections or lanes yet. One address has seven eighths of these
         * places at most, and the last sixteenth is for addresses that have none. Up to 1,024 others wait for a place, and
         * those that have taken longest are refused for them with {@link LimitExceededException}: after a second, or after five
         * once they have been answered. Default 256; {@code SLUICE_MAX_HALF_OPEN}.
         *
         * @param count 1 to 65,536
         * @return this
         */
        public Builder maxHalfOpen(int count) {
            this.maxHalfOpen = (int) between("maxHalfOpen", count, 1, 65_536);
            return this;
        }

        /**
         * How long a peer that connects may take to prove that it may, from its socket's first moment on: bytes that trickle in
         * gain no time. Its first message must come within three tenths of that. Default 10 s; {@code SLUICE_HANDSHAKE_TIMEOUT}.
         *
         * @param time 10 ms to 1 h
         * @return this
         */
        public Builder handshakeTimeout(Duration time) {
            this.handshakeTimeout = between("handshakeTimeout", time, Duration.ofMillis(10), Duration.ofHours(1));
            return this;
        }

        /**
         * Requests of a peer that may wait for their answers on a connection, on tcp. The peer learns this limit, and
         * one that asks for more is not read from until answers have gone. Default 4,096; {@code
         * SLUICE_MAX_SERVED_REQUESTS}.
         *
         * @param count 1 to 1,048,576
         * @return this
         */
        public Builder maxServedRequests(int count) {
            this.maxServedRequests = (int) between("maxServedRequests", count, 1, 1 << 20);
            return this;
        }

        /**
         * Bytes that a peer may have asked for and not taken yet on a connection, on tcp; as {@link #maxServedRequests}. A single
         * answer may be longer. Default 256 MiB; {@code SLUICE_SERVED_WINDOW_BYTES}.
         *
         * @param bytes at least 64 KiB
         * @return this
         */
        public Builder servedWindowBytes(long bytes) {
            this.servedWindowBytes = between("servedWindowBytes", bytes, MIN_WINDOW_BYTES, 1L << 40);
            return this;
        }

        /**
         * Lanes a connection: sockets on tcp, queue pairs on verbs. The lesser of both sides' wishes is taken. Default 1;
         * {@code SLUICE_LANES}.
         *
         * @param count 1 to 16
         * @return this
         */
        public Builder lanes(int count) {
            this.lanes = (int) between("lanes", count, 1, 16);
            return this;
        }

        /**
         * How long a peer may be silent, or a lane make no progress, before the connection is lost. Heartbeats go four
         * times as often. Default 10 s; {@code SLUICE_LIVENESS_TIMEOUT}.
         *
         * @param time 100 ms to 1 h
         * @return this
         */
        public Builder livenessTimeout(Duration time) {
            this.livenessTimeout = between("livenessTimeout", time, Duration.ofMillis(100), Duration.ofHours(1));
            return this;
        }

        /**
         * How long connecting may take, authentication and lanes included. Default 10 s; {@code SLUICE_CONNECT_TIMEOUT}.
         *
         * @param time 10 ms to 1 h
         * @return this
         */
        public Builder connectTimeout(Duration time) {
            this.connectTimeout = between("connectTimeout", time, Duration.ofMillis(10), Duration.ofHours(1));
            return this;
        }

        /**
         * Notifications that a peer may have sent and this side not yet consumed. Default 256;
         * {@code SLUICE_NOTIFICATION_CREDITS}.
         *
         * @param count 1 to 65,536
         * @return this
         */
        public Builder notificationCredits(int count) {
            this.notificationCredits = (int) between("notificationCredits", count, 1, 65_536);
            return this;
        }

        /**
         * The longest notification that this side accepts. With the credits it bounds the memory that a peer can occupy.
         * Default 64 KiB; {@code SLUICE_MAX_NOTIFICATION_BYTES}.
         *
         * @param bytes 0 to 1 MiB
         * @return this
         */
        public Builder maxNotificationBytes(int bytes) {
            this.maxNotificationBytes = (int) between("maxNotificationBytes", bytes, 0, 1 << 20);
            return this;
        }

        /**
         * Regions that a peer may have attached at once on a connection. Default 65,536;
         * {@code SLUICE_MAX_ATTACHED_REGIONS}.
         *
         * @param count at least 1
         * @return this
         */
        public Builder maxAttachedRegions(int count) {
            this.maxAttachedRegions = (int) between("maxAttachedRegions", count, 1, 1 << 24);
            return this;
        }

        /**
         * How long an idle poller spins before it yields. Where the process has one processor alone, it yields now and then
         * while it spins. With neither spinning nor yielding, it parks as soon as there is no work. Default 50 µs;
         * {@code SLUICE_SPIN}.
         *
         * @param time zero or more
         * @return this
         */
        public Builder spin(Duration time) {
            this.spin = between("spin", time, Duration.ZERO, Duration.ofDays(1));
            return this;
        }

        /**
         * How long an idle poller yields, after it has spun, before it parks in the kernel. Default 1 ms;
         * {@code SLUICE_YIELD}.
         *
         * @param time zero or more
         * @return this
         */
        public Builder yield(Duration time) {
            this.yield = between("yield", time, Duration.ZERO, Duration.ofDays(1));
            return this;
        }

        /**
         * A poller's duty cycle that takes longer than this is reported: a callback blocked or worked too long, code was
         * loaded, or the thread had no processor. The log says how long it ran, waited and had none. Default
         * 200 ms; {@code SLUICE_STALL_THRESHOLD}.
         *
         * @param time 1 ms or more
         * @return this
         */
        public Builder stallThreshold(Duration time) {
            this.stallThreshold = between("stallThreshold", time, Duration.ofMillis(1), Duration.ofHours(1));
            return this;
        }

        /**
         * The threshold for slow transfers: {@link EngineObserver#slowTransfer} is called when such a transfer ends,
         * with any outcome. A transfer that the calling thread executes itself, on shm, is reported only if it is
         * timed ({@link TransportMetrics#duration}). Default 1 s; {@code SLUICE_SLOW_TRANSFER}.
         *
         * @param time more than zero, up to a day
         * @return this
         */
        public Builder slowTransfer(Duration time) {
            this.slowTransfer = between("slowTransfer", time, Duration.ofNanos(1), Duration.ofDays(1));
            return this;
        }

        /**
         * Adds an observer of rare events. Default: none, which costs nothing.
         *
         * @param observer called from the engine's opening on
         * @return this
         */
        public Builder observer(EngineObserver observer) {
            List<EngineObserver> all = new ArrayList<>(observers);
            all.add(Objects.requireNonNull(observer, "observer"));
            this.observers = List.copyOf(all);
            return this;
        }

        /**
         * How priorities age: a waiting transfer takes turns with those of the next higher priority that were submitted more
         * than this later. Default 100 ms; {@code SLUICE_PRIORITY_AGING}.
         *
         * @param time zero (priorities mean nothing) to an hour
         * @return this
         */
        public Builder priorityAging(Duration time) {
            this.priorityAging = between("priorityAging", time, Duration.ZERO, Duration.ofHours(1));
            return this;
        }

        /**
         * The checks against bytes that are changed on their way. A connection has them if either side asks for them. Default
         * {@link Integrity#NONE}; {@code SLUICE_INTEGRITY}, {@code none} or {@code crc32c}.
         *
         * @param integrity what this engine asks for
         * @return this
         */
        public Builder integrity(Integrity integrity) {
            this.integrity = Objects.requireNonNull(integrity, "integrity");
            return this;
        }

        private void integrity(String value) {
            switch (value.toLowerCase(Locale.ROOT)) {
                case "none" -> integrity(Integrity.NONE);
                case "crc32c" -> integrity(Integrity.CRC32C);
                default -> throw new IllegalArgumentException("'" + value + "' is neither none nor crc32c");
            }
        }

        /**
         * The size of the kernel's buffers of each tcp lane. Default 0, the system's own automatic sizes;
         * {@code SLUICE_SOCKET_BUFFER_BYTES}.
         *
         * @param bytes 0 to 1 GiB
         * @return this
         */
        public Builder socketBufferBytes(int bytes) {
            this.socketBufferBytes = (int) between("socketBufferBytes", bytes, 0, 1 << 30);
            return this;
        }

        /**
         * The secret that both engines must know; each proves it to the other without sending it. Default: none, which is
         * allowed on loopback alone; {@code SLUICE_TOKEN}. It guards who may connect; what follows is neither encrypted nor
         * protected against an attacker who can change packets in transit.
         *
         * @param secret at least 16 bytes, copied
         * @return this
         */
        public Builder token(byte[] secret) {
            return tokens(TokenSource.of(Token.of(secret)));
        }

        /**
         * A file of tokens, which can be rotated while the engine runs; see {@link TokenSource#file}. Default: none;
         * {@code SLUICE_TOKEN_FILE}. It takes the place of a {@linkplain #token token} that was given before, and the other way
         * round.
         *
         * @param file looked at when the engine opens, and from then on when there is a handshake
         * @return this
         */
        public Builder tokenFile(Path file) {
            return tokens(TokenSource.file(file));
        }

        /**
         * The source of tokens; see {@link #token} for what they guard. Default: none. Replaces an earlier token or
         * source.
         *
         * @param source asked when the engine opens, and from then on at each handshake
         * @return this
         */
        public Builder tokens(TokenSource source) {
            this.tokens = Objects.requireNonNull(source, "source");
            return this;
        }

        /**
         * Mutual TLS on every connection's control channel and, if it says so, on tcp's data. Both engines must have it or
         * neither; with a token as well, both are asked for. Default: none; {@code SLUICE_TLS_CERT}, {@code SLUICE_TLS_KEY} and
         * {@code SLUICE_TLS_TRUST}, files in PEM of which all three are needed, or {@code SLUICE_TLS_KEYSTORE} and {@code
         * SLUICE_TLS_KEYSTORE_PASSWORD}; with either, {@code SLUICE_TLS_DATA} and {@code SLUICE_TLS_VERIFY_HOST}.
         *
         * @param options whose files are read when the engine opens
         * @return this
         */
        public Builder tls(TlsOptions options) {
            this.tls = Objects.requireNonNull(options, "options");
            return this;
        }

        /**
         * Settles which of a connection's paths reaches a region, where several do. Default: {@link PathPolicy#inOrder()}.
         *
         * @param policy asked on pollers when regions are attached
         * @return this
         */
        public Builder pathPolicy(PathPolicy policy) {
            this.pathPolicy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Decides which peers may connect, and which regions they may look up and attach. Default: none, and every
         * authenticated peer may do everything; no variable. {@link AllowedPeers} is one that goes by names.
         *
         * @param authorizer asked on pollers
         * @return this
         */
        public Builder authorizer(PeerAuthorizer authorizer) {
            this.authorizer = Objects.requireNonNull(authorizer, "authorizer");
            return this;
        }

        /**
         * Lets an engine without a token and without TLS listen beyond loopback: any host that reaches the port may
         * connect. Default false; {@code SLUICE_ALLOW_UNAUTHENTICATED_PEERS=true}.
         *
         * @param allow true to take the risk
         * @return this
         */
        public Builder allowUnauthenticatedPeers(boolean allow) {
            this.allowUnauthenticatedPeers = allow;
            return this;
        }

        /**
         * Settings of one transport; they replace those of the same class given before. Default: those that the
         * transport reads from its own variables, such as {@code SLUICE_VERBS_DEVICES}.
         *
         * @param options of the transport
         * @return this
         */
        public Builder transport(TransportOptions options) {
            Map<Class<? extends TransportOptions>, TransportOptions> all = new HashMap<>(transportOptions);
            all.put(options.getClass(), options);
            this.transportOptions = Map.copyOf(all);
            return this;
        }

        /**
         * Overrides what the {@code SLUICE_*} variables set. A time is {@code 500ms}, {@code 10s}, {@code 5m},
         * {@code 50us} or an ISO-8601 duration; a size is a number of bytes, or {@code 64KiB}, {@code 64MiB},
         * {@code 1GiB}.
         *
         * @param variables by name; others are ignored, and the log warns of those that begin with {@code SLUICE_} and are not
         *     known when an engine opens with these options
         * @return this
         * @throws IllegalArgumentException if a variable cannot be read; the message names it
         */
        public Builder environment(Map<String, String> variables) {
            // Usual, and then the start need not wait for the JVM to make what reads each of them.
            if (variables.keySet().stream().noneMatch(name -> name.startsWith("SLUICE_"))) {
                return this;
            }
            Environment from = new Environment(variables);
            Map<String, String> kept = new HashMap<>(this.variables);
            variables.forEach((name, value) -> {
                // secrets are kept in their own place alone
                if (name.startsWith("SLUICE_") && !SECRETS.contains(name)) {
                    kept.put(name, value);
                }
            });
            this.variables = Map.copyOf(kept);
            from.text("SLUICE_NAME", this::name);
            from.address("SLUICE_LISTEN", this::listen, this::noListener);
            from.address("SLUICE_ADVERTISE", this::advertise, null);
            from.text(
                    "SLUICE_TRANSPORTS",
                    value -> transports(
                            value.equals("auto")
                                    ? List.of()
                                    : Arrays.stream(value.split(","))
                                            .map(String::strip)
                                            .toList()));
            from.number("SLUICE_POLLERS", this::pollers);
            from.number("SLUICE_WINDOW_OPERATIONS", this::windowOperations);
            from.size("SLUICE_WINDOW_BYTES", this::windowBytes);
            from.number("SLUICE_ENGINE_WINDOW_OPERATIONS", this::engineWindowOperations);
            from.size("SLUICE_ENGINE_WINDOW_BYTES", this::engineWindowBytes);
            from.number("SLUICE_MAX_PENDING", this::maxPending);
            from.number("SLUICE_MAX_CONNECTIONS", this::maxConnections);
            from.number("SLUICE_MAX_HANDSHAKES_PER_SECOND", this::maxHandshakesPerSecond);
            from.number("SLUICE_MAX_HALF_OPEN", this::maxHalfOpen);
            from.time("SLUICE_HANDSHAKE_TIMEOUT", this::handshakeTimeout);
            from.number("SLUICE_MAX_SERVED_REQUESTS", this::maxServedRequests);
            from.size("SLUICE_SERVED_WINDOW_BYTES", this::servedWindowBytes);
            from.number("SLUICE_LANES", this::lanes);
            from.time("SLUICE_LIVENESS_TIMEOUT", this::livenessTimeout);
            from.time("SLUICE_CONNECT_TIMEOUT", this::connectTimeout);
            from.number("SLUICE_NOTIFICATION_CREDITS", this::notificationCredits);
            from.size("SLUICE_MAX_NOTIFICATION_BYTES", bytes -> maxNotificationBytes(Math.toIntExact(bytes)));
            from.number("SLUICE_MAX_ATTACHED_REGIONS", this::maxAttachedRegions);
            from.time("SLUICE_SPIN", this::spin);
            from.time("SLUICE_YIELD", this::yield);
            from.time("SLUICE_STALL_THRESHOLD", this::stallThreshold);
            from.time("SLUICE_SLOW_TRANSFER", this::slowTransfer);
            from.time("SLUICE_PRIORITY_AGING", this::priorityAging);
            from.text("SLUICE_INTEGRITY", this::integrity);
            from.size("SLUICE_SOCKET_BUFFER_BYTES", bytes -> socketBufferBytes(Math.toIntExact(bytes)));
            from.secret("SLUICE_TOKEN", this::token);
            from.text("SLUICE_TOKEN_FILE", file -> {
                if (from.has("SLUICE_TOKEN")) {
                    throw new IllegalArgumentException("SLUICE_TOKEN is set as well; take one of the two away");
                }
                tokenFile(Path.of(file));
            });
            TlsVariables.read(from, tls, this::tls);
            from.flag("SLUICE_ALLOW_UNAUTHENTICATED_PEERS", this::allowUnauthenticatedPeers);
            return this;
        }

        /**
         * Applies a function, for chains.
         *
         * @param change is given this builder
         * @return this
         */
        public Builder with(Consumer<Builder> change) {
            change.accept(this);
            return this;
        }

        /**
         * The options.
         *
         * @return an immutable copy of the settings
         */
        public EngineOptions build() {
            return new EngineOptions(this);
        }

        private static long between(String name, long value, long lowest, long highest) {
            if (value < lowest || value > highest) {
                throw new IllegalArgumentException(name + " is " + lowest + " to " + highest + ", not " + value);
            }
            return value;
        }

        private static Duration between(String name, Duration value, Duration lowest, Duration highest) {
            if (value.compareTo(lowest) < 0 || value.compareTo(highest) > 0) {
                throw new IllegalArgumentException(name + " is " + lowest + " to " + highest + ", not " + value);
            }
            return value;
        }
    }
}
