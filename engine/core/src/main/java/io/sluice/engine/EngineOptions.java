package io.sluice.engine;

import io.sluice.engine.transport.TransportOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All settings of an engine. Immutable; made by {@link #builder()}, or from the environment by
 * {@link #fromEnvironment()}. Each method of {@link Builder} documents its default and its variable.
 */
public final class EngineOptions {
    private final EngineSettings settings;

    private EngineOptions(EngineSettings settings) {
        this.settings = settings;
    }

    /**
     * A builder that holds the defaults.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder(new EngineSettings());
    }

    /**
     * The default settings.
     *
     * @return the options of a builder without changes
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
     * @param type that class
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
        return new Builder(settings.copy());
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
     * @return by how much a waiting transfer must be older to alternate with those of the next higher priority
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
     * @return the checks that this engine asks for
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
     * @return the authorizer, or {@code null} if every authenticated peer has all rights
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
    public static final class Builder extends PeerSettings {
        private Builder(EngineSettings settings) {
            super(settings);
        }

        @Override
        Builder self() {
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
            Map<Class<? extends TransportOptions>, TransportOptions> all = new HashMap<>(settings.transportOptions);
            all.put(options.getClass(), options);
            settings.transportOptions = Map.copyOf(all);
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
            // mostly there are none, and then no code that reads them is loaded and linked at the start
            if (EngineVariables.has(variables)) {
                settings.variables = EngineVariables.withoutSecrets(settings.variables, variables);
                EngineVariables.read(new Environment(variables), settings.tls, this);
            }
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
            return new EngineOptions(settings.copy());
        }
    }
}
