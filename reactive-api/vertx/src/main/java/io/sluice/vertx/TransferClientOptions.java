package io.sluice.vertx;

import io.sluice.engine.EngineOptions;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link TransferClient}. Those of the engine start with what the {@code SLUICE_*} variables of the process say, over
 * the engine's defaults; what is set here, or by JSON, goes before both. Times are in milliseconds, sizes in bytes.
 *
 * <p>What has no setter of its own, such as the options of a transport or an observer, is set with
 * {@link #setEngineOptions(EngineOptions)}.
 *
 * <p>Not for use by several threads.
 */
public class TransferClientOptions {
    /** Clients share no engine. */
    public static final boolean DEFAULT_SHARED = false;

    /** The name under which clients share an engine. */
    public static final String DEFAULT_NAME = "sluice";

    /** Staging memory for buffers: 4 MiB. */
    public static final long DEFAULT_STAGING_BYTES = 4L << 20;

    /** The longest chunk of a buffer: 64 KiB. */
    public static final int DEFAULT_STAGING_SLOT_BYTES = 64 << 10;

    /** The engine's meters go where those of Vert.x go. */
    public static final boolean DEFAULT_METRICS_ENABLED = true;

    /** The name of the registry that Vert.x' metrics use if they are given no other. */
    public static final String DEFAULT_METRICS_REGISTRY_NAME = "default";

    /** No peers are told apart in metrics. */
    public static final int DEFAULT_METRICS_PEERS = 0;

    private static final int MOST_PEERS = 10_000;
    private static final long MOST_STAGING_BYTES = 1L << 36;
    private static final int LEAST_SLOT_BYTES = 1 << 10;
    private static final int MOST_SLOT_BYTES = 1 << 26;

    private EngineOptions engine;
    private boolean shared;
    private String name;
    private long stagingBytes;
    private int stagingSlotBytes;
    private boolean metricsEnabled;
    private String metricsRegistryName;
    private int metricsPeers;

    /**
     * The defaults, overridden by the environment.
     *
     * @throws IllegalArgumentException if a {@code SLUICE_*} variable cannot be read; the message names it
     */
    public TransferClientOptions() {
        engine = EngineOptions.fromEnvironment();
        shared = DEFAULT_SHARED;
        name = DEFAULT_NAME;
        stagingBytes = DEFAULT_STAGING_BYTES;
        stagingSlotBytes = DEFAULT_STAGING_SLOT_BYTES;
        metricsEnabled = DEFAULT_METRICS_ENABLED;
        metricsRegistryName = DEFAULT_METRICS_REGISTRY_NAME;
        metricsPeers = DEFAULT_METRICS_PEERS;
    }

    /**
     * A copy.
     *
     * @param other copied, the token included
     */
    public TransferClientOptions(TransferClientOptions other) {
        engine = other.engine;
        shared = other.shared;
        name = other.name;
        stagingBytes = other.stagingBytes;
        stagingSlotBytes = other.stagingSlotBytes;
        metricsEnabled = other.metricsEnabled;
        metricsRegistryName = other.metricsRegistryName;
        metricsPeers = other.metricsPeers;
    }

    /**
     * The defaults, overridden by the environment, overridden by JSON. Keys are the names of the properties as {@link #toJson()}
     * writes them, {@code token} and {@code listening} beside; others are passed over.
     *
     * @param json what is to differ
     * @throws IllegalArgumentException if a value is of the wrong type or out of range; the message names the key
     */
    public TransferClientOptions(JsonObject json) {
        this();
        OptionsJson.read(json, this);
    }

    /**
     * All settings but the token, which is a secret, and what {@link #setEngineOptions} alone can set.
     *
     * @return what the constructor for JSON reads
     */
    public JsonObject toJson() {
        return OptionsJson.write(this);
    }

    /**
     * The engine's settings.
     *
     * @return as they are now, with all that was set here
     */
    public EngineOptions getEngineOptions() {
        return engine;
    }

    /**
     * Sets all of the engine's settings at once, over what was set before.
     *
     * @param options for instance with a transport's own options
     * @return this
     */
    public TransferClientOptions setEngineOptions(EngineOptions options) {
        engine = Objects.requireNonNull(options, "options");
        return this;
    }

    /**
     * Whether clients of one Vert.x and one {@linkplain #setName name} share an engine.
     *
     * @return default {@value #DEFAULT_SHARED}
     */
    public boolean isShared() {
        return shared;
    }

    /**
     * Shares an engine with the other clients of this Vert.x and this {@linkplain #setName name}. The first one's options count.
     *
     * @param share whether to share
     * @return this
     */
    public TransferClientOptions setShared(boolean share) {
        shared = share;
        return this;
    }

    /**
     * The name of the shared engine, which means nothing if none is shared.
     *
     * @return default {@value #DEFAULT_NAME}
     */
    public String getName() {
        return name;
    }

    /**
     * Names the shared engine.
     *
     * @param sharedName any
     * @return this
     */
    public TransferClientOptions setName(String sharedName) {
        name = Objects.requireNonNull(sharedName, "sharedName");
        return this;
    }

    /**
     * How much registered memory the engine keeps for transfers of buffers.
     *
     * @return bytes, default 4 MiB
     */
    public long getStagingBytes() {
        return stagingBytes;
    }

    /**
     * Sets how much registered memory the engine keeps for transfers of buffers. It is allocated with the first of them, and bounds what
     * they have in flight: where it is all in use, they wait. At least one slot is there.
     *
     * @param bytes 1 to 64 GiB
     * @return this
     */
    public TransferClientOptions setStagingBytes(long bytes) {
        stagingBytes = OptionsJson.between("stagingBytes", bytes, 1, MOST_STAGING_BYTES);
        return this;
    }

    /**
     * The longest chunk of a buffer.
     *
     * @return bytes, default 64 KiB
     */
    public int getStagingSlotBytes() {
        return stagingSlotBytes;
    }

    /**
     * Sets into how long parts the staging memory is divided. Each chunk of a buffer takes one, however short it is.
     *
     * @param bytes 1 KiB to 64 MiB
     * @return this
     */
    public TransferClientOptions setStagingSlotBytes(int bytes) {
        stagingSlotBytes = (int) OptionsJson.between("stagingSlotBytes", bytes, LEAST_SLOT_BYTES, MOST_SLOT_BYTES);
        return this;
    }

    /**
     * Whether the engine's meters go to the registry of Vert.x' metrics.
     *
     * @return default {@value #DEFAULT_METRICS_ENABLED}
     */
    public boolean isMetricsEnabled() {
        return metricsEnabled;
    }

    /**
     * Brings the engine's meters to the registry that Vert.x' own metrics use, where those are on and {@code sluice-metrics} is on the
     * class path. To bind the same engine by hand as well is harmless.
     *
     * @param enabled whether to
     * @return this
     */
    public TransferClientOptions setMetricsEnabled(boolean enabled) {
        metricsEnabled = enabled;
        return this;
    }

    /**
     * Which registry.
     *
     * @return default {@value #DEFAULT_METRICS_REGISTRY_NAME}
     */
    public String getMetricsRegistryName() {
        return metricsRegistryName;
    }

    /**
     * Says which registry.
     *
     * @param registryName as {@code MicrometerMetricsOptions.setRegistryName} has it
     * @return this
     */
    public TransferClientOptions setMetricsRegistryName(String registryName) {
        metricsRegistryName = Objects.requireNonNull(registryName, "registryName");
        return this;
    }

    /**
     * How many peers have meters of their own.
     *
     * @return default {@value #DEFAULT_METRICS_PEERS}
     */
    public int getMetricsPeers() {
        return metricsPeers;
    }

    /**
     * Exports meters for peers, too.
     *
     * @param most how many are told apart, 0 to 10,000; the others come together
     * @return this
     */
    public TransferClientOptions setMetricsPeers(int most) {
        metricsPeers = (int) OptionsJson.between("metricsPeers", most, 0, MOST_PEERS);
        return this;
    }

    /**
     * What tells the engine's figures from those of other engines.
     *
     * @return the name, or {@code null} for the first digits of its identity
     */
    public @Nullable String getEngineName() {
        return engine.name();
    }

    /**
     * See {@link EngineOptions.Builder#name}.
     *
     * @param engineName 1 to 64 printable characters
     * @return this
     */
    public TransferClientOptions setEngineName(String engineName) {
        engine = engine.toBuilder().name(engineName).build();
        return this;
    }

    /**
     * Where the engine listens.
     *
     * @return the host, default 127.0.0.1; {@code null} if it does not listen
     */
    public @Nullable String getListenHost() {
        return engine.listenHost();
    }

    /**
     * See {@link EngineOptions.Builder#listen}. Beyond loopback a {@linkplain #setToken token} is needed.
     *
     * @param host a name or literal address; {@code null} to listen nowhere
     * @return this
     */
    public TransferClientOptions setListenHost(@Nullable String host) {
        EngineOptions.Builder builder = engine.toBuilder();
        engine = (host == null ? builder.listenNowhere() : builder.listen(host, engine.listenPort())).build();
        return this;
    }

    /**
     * The port to listen on.
     *
     * @return default 0, any free one
     */
    public int getListenPort() {
        return engine.listenPort();
    }

    /**
     * See {@link EngineOptions.Builder#listen}. It listens on loopback if it did not listen before.
     *
     * @param port 0 (any free one) to 65535
     * @return this
     */
    public TransferClientOptions setListenPort(int port) {
        String host = engine.listenHost();
        engine = engine.toBuilder()
                .listen(host == null ? "127.0.0.1" : host, port)
                .build();
        return this;
    }

    /**
     * The host that peers are told.
     *
     * @return {@code null} for the bound one
     */
    public @Nullable String getAdvertisedHost() {
        return engine.advertisedHost();
    }

    /**
     * See {@link EngineOptions.Builder#advertise}.
     *
     * @param host what peers can resolve
     * @return this
     */
    public TransferClientOptions setAdvertisedHost(String host) {
        engine = engine.toBuilder().advertise(host, engine.advertisedPort()).build();
        return this;
    }

    /**
     * The port that peers are told.
     *
     * @return 0 for the bound one
     */
    public int getAdvertisedPort() {
        return engine.advertisedPort();
    }

    /**
     * See {@link EngineOptions.Builder#advertise}; together with {@link #setAdvertisedHost}, which is set first.
     *
     * @param port 0 for the bound port, to 65535
     * @return this
     * @throws IllegalStateException if no host is advertised
     */
    public TransferClientOptions setAdvertisedPort(int port) {
        String host = engine.advertisedHost();
        if (host == null) {
            throw new IllegalStateException("set advertisedHost first");
        }
        engine = engine.toBuilder().advertise(host, port).build();
        return this;
    }

    /**
     * The transports to use.
     *
     * @return the most preferred first; empty for all that are available
     */
    public List<String> getTransports() {
        return engine.transports();
    }

    /**
     * See {@link EngineOptions.Builder#transports}.
     *
     * @param transports the most preferred first; empty for all that are available
     * @return this
     */
    public TransferClientOptions setTransports(List<String> transports) {
        engine = engine.toBuilder().transports(transports).build();
        return this;
    }

    /**
     * Whether there is a shared secret, which itself is not told.
     *
     * @return whether peers have to prove that they know it
     */
    public boolean hasToken() {
        return engine.tokens() != null;
    }

    /**
     * Sets the secret that both engines must know; see {@link EngineOptions.Builder#token}. Neither {@link #toJson()} nor
     * {@link #toString()} tells it.
     *
     * @param token at least 16 bytes of UTF-8
     * @return this
     */
    public TransferClientOptions setToken(String token) {
        engine =
                engine.toBuilder().token(token.getBytes(StandardCharsets.UTF_8)).build();
        return this;
    }

    /**
     * The number of poller threads.
     *
     * @return default 1
     */
    public int getPollers() {
        return engine.pollers();
    }

    /**
     * See {@link EngineOptions.Builder#pollers}.
     *
     * @param count 1 to 256
     * @return this
     */
    public TransferClientOptions setPollers(int count) {
        engine = engine.toBuilder().pollers(count).build();
        return this;
    }

    /**
     * The most operations in flight on a connection.
     *
     * @return default 256
     */
    public int getWindowOperations() {
        return engine.windowOperations();
    }

    /**
     * See {@link EngineOptions.Builder#windowOperations}.
     *
     * @param count 1 to 65,536
     * @return this
     */
    public TransferClientOptions setWindowOperations(int count) {
        engine = engine.toBuilder().windowOperations(count).build();
        return this;
    }

    /**
     * The most bytes in flight on a connection.
     *
     * @return default 64 MiB
     */
    public long getWindowBytes() {
        return engine.windowBytes();
    }

    /**
     * See {@link EngineOptions.Builder#windowBytes}.
     *
     * @param bytes at least 64 KiB
     * @return this
     */
    public TransferClientOptions setWindowBytes(long bytes) {
        engine = engine.toBuilder().windowBytes(bytes).build();
        return this;
    }

    /**
     * The most operations in flight over all connections.
     *
     * @return default 65,536
     */
    public int getEngineWindowOperations() {
        return engine.engineWindowOperations();
    }

    /**
     * See {@link EngineOptions.Builder#engineWindowOperations}.
     *
     * @param count 1 to 2,097,152
     * @return this
     */
    public TransferClientOptions setEngineWindowOperations(int count) {
        engine = engine.toBuilder().engineWindowOperations(count).build();
        return this;
    }

    /**
     * The most bytes in flight over all connections.
     *
     * @return default 1 GiB
     */
    public long getEngineWindowBytes() {
        return engine.engineWindowBytes();
    }

    /**
     * See {@link EngineOptions.Builder#engineWindowBytes}.
     *
     * @param bytes at least 64 KiB
     * @return this
     */
    public TransferClientOptions setEngineWindowBytes(long bytes) {
        engine = engine.toBuilder().engineWindowBytes(bytes).build();
        return this;
    }

    /**
     * The most transfers submitted on a connection and not ended.
     *
     * @return default 65,536
     */
    public int getMaxPending() {
        return engine.maxPending();
    }

    /**
     * See {@link EngineOptions.Builder#maxPending}.
     *
     * @param count at least 1
     * @return this
     */
    public TransferClientOptions setMaxPending(int count) {
        engine = engine.toBuilder().maxPending(count).build();
        return this;
    }

    /**
     * The most connections open at once, made by either side.
     *
     * @return default 4,096
     */
    public int getMaxConnections() {
        return engine.maxConnections();
    }

    /**
     * See {@link EngineOptions.Builder#maxConnections}.
     *
     * @param count at least 1
     * @return this
     */
    public TransferClientOptions setMaxConnections(int count) {
        engine = engine.toBuilder().maxConnections(count).build();
        return this;
    }

    /**
     * Lanes a connection.
     *
     * @return default 1
     */
    public int getLanes() {
        return engine.lanes();
    }

    /**
     * See {@link EngineOptions.Builder#lanes}.
     *
     * @param count 1 to 16
     * @return this
     */
    public TransferClientOptions setLanes(int count) {
        engine = engine.toBuilder().lanes(count).build();
        return this;
    }

    /**
     * Notifications that a peer may have sent and this side not yet consumed.
     *
     * @return default 256
     */
    public int getNotificationCredits() {
        return engine.notificationCredits();
    }

    /**
     * See {@link EngineOptions.Builder#notificationCredits}.
     *
     * @param count 1 to 65,536
     * @return this
     */
    public TransferClientOptions setNotificationCredits(int count) {
        engine = engine.toBuilder().notificationCredits(count).build();
        return this;
    }

    /**
     * The longest notification that this side accepts.
     *
     * @return default 64 KiB
     */
    public int getMaxNotificationBytes() {
        return engine.maxNotificationBytes();
    }

    /**
     * See {@link EngineOptions.Builder#maxNotificationBytes}.
     *
     * @param bytes 0 to 1 MiB
     * @return this
     */
    public TransferClientOptions setMaxNotificationBytes(int bytes) {
        engine = engine.toBuilder().maxNotificationBytes(bytes).build();
        return this;
    }

    /**
     * Regions that a peer may have attached at once on a connection.
     *
     * @return default 65,536
     */
    public int getMaxAttachedRegions() {
        return engine.maxAttachedRegions();
    }

    /**
     * See {@link EngineOptions.Builder#maxAttachedRegions}.
     *
     * @param count at least 1
     * @return this
     */
    public TransferClientOptions setMaxAttachedRegions(int count) {
        engine = engine.toBuilder().maxAttachedRegions(count).build();
        return this;
    }

    /**
     * How long a peer may be silent before the connection is lost, in milliseconds.
     *
     * @return default 10,000
     */
    public long getLivenessTimeout() {
        return engine.livenessTimeout().toMillis();
    }

    /**
     * See {@link EngineOptions.Builder#livenessTimeout}.
     *
     * @param millis 100 to 3,600,000
     * @return this
     */
    public TransferClientOptions setLivenessTimeout(long millis) {
        engine = engine.toBuilder().livenessTimeout(Duration.ofMillis(millis)).build();
        return this;
    }

    /**
     * How long connecting may take, in milliseconds.
     *
     * @return default 10,000
     */
    public long getConnectTimeout() {
        return engine.connectTimeout().toMillis();
    }

    /**
     * See {@link EngineOptions.Builder#connectTimeout}.
     *
     * @param millis 10 to 3,600,000
     * @return this
     */
    public TransferClientOptions setConnectTimeout(long millis) {
        engine = engine.toBuilder().connectTimeout(Duration.ofMillis(millis)).build();
        return this;
    }

    /**
     * Whether an engine without a token may listen beyond loopback.
     *
     * @return default {@code false}
     */
    public boolean isAllowUnauthenticatedPeers() {
        return engine.allowUnauthenticatedPeers();
    }

    /**
     * See {@link EngineOptions.Builder#allowUnauthenticatedPeers}.
     *
     * @param allow true to take the risk
     * @return this
     */
    public TransferClientOptions setAllowUnauthenticatedPeers(boolean allow) {
        engine = engine.toBuilder().allowUnauthenticatedPeers(allow).build();
        return this;
    }

    /** Leaves the token out. */
    @Override
    public String toString() {
        return "TransferClientOptions" + toJson().encode();
    }
}
