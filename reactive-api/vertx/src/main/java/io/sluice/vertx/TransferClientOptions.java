package io.sluice.vertx;

import io.sluice.engine.EngineOptions;
import io.vertx.core.json.JsonObject;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The settings of a {@link TransferClient} and the {@link EngineOptions} of its engine. The engine's settings are its
 * defaults, overridden by the process's {@code SLUICE_*} variables; {@link #setEngineOptions}, {@link #configureEngine}
 * and JSON override those. Times in JSON are in milliseconds, sizes in bytes.
 *
 * <p>Not thread-safe.
 */
public class TransferClientOptions {
    /** Default: clients do not share an engine. */
    public static final boolean DEFAULT_SHARED = false;

    /** Default name of the shared engine. */
    public static final String DEFAULT_NAME = "sluice";

    /** Default size of the staging memory: 4 MiB. */
    public static final long DEFAULT_STAGING_BYTES = 4L << 20;

    /** Default size of a staging slot: 64 KiB. */
    public static final int DEFAULT_STAGING_SLOT_BYTES = 64 << 10;

    /** Default: the engine's meters are registered with those of Vert.x. */
    public static final boolean DEFAULT_METRICS_ENABLED = true;

    /** Default name of the registry, the same as that of Vert.x metrics. */
    public static final String DEFAULT_METRICS_REGISTRY_NAME = "default";

    /** Default: no meters for individual peers. */
    public static final int DEFAULT_METRICS_PEERS = 0;

    private static final int MOST_PEERS = 10_000;
    private static final long MOST_STAGING_BYTES = 1L << 36;
    private static final int LEAST_SLOT_BYTES = 1 << 10;
    private static final int MOST_SLOT_BYTES = 1 << 26;

    private EngineOptions engine;
    private boolean shared = DEFAULT_SHARED;
    private String name = DEFAULT_NAME;
    private long stagingBytes = DEFAULT_STAGING_BYTES;
    private int stagingSlotBytes = DEFAULT_STAGING_SLOT_BYTES;
    private boolean metricsEnabled = DEFAULT_METRICS_ENABLED;
    private String metricsRegistryName = DEFAULT_METRICS_REGISTRY_NAME;
    private int metricsPeers = DEFAULT_METRICS_PEERS;

    /**
     * Creates the defaults, overridden by the environment.
     *
     * @throws IllegalArgumentException if a {@code SLUICE_*} variable is invalid; the message names it
     */
    public TransferClientOptions() {
        engine = EngineOptions.fromEnvironment();
    }

    /**
     * Creates a copy.
     *
     * @param other the options to copy, including the token
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
     * Creates the defaults, overridden by the environment and then by JSON. Keys are those of {@link #toJson()} and
     * {@code token}: the shared secret, at least 16 bytes of UTF-8. Unknown keys are ignored. To listen beyond
     * loopback, an engine needs a token.
     *
     * @param json the settings that differ from the defaults
     * @throws IllegalArgumentException if a value has the wrong type or is out of range; the message names the key
     */
    public TransferClientOptions(JsonObject json) {
        this();
        OptionsJson.read(json, this);
    }

    /**
     * Returns the client's settings, and the engine's settings that have a key: {@code engineName}, {@code listenHost},
     * {@code listenPort}, {@code listening} (false if it does not listen), {@code advertisedHost}, {@code
     * advertisedPort}, {@code transports}, {@code pollers}, {@code windowOperations}, {@code windowBytes}, {@code
     * engineWindowOperations}, {@code engineWindowBytes}, {@code maxPending}, {@code maxConnections}, {@code lanes},
     * {@code notificationCredits}, {@code maxNotificationBytes}, {@code maxAttachedRegions}, {@code livenessTimeout},
     * {@code connectTimeout} and {@code allowUnauthenticatedPeers}. The methods of {@link EngineOptions.Builder} with
     * these names document them. The token is secret and left out.
     *
     * @return JSON for {@link #TransferClientOptions(JsonObject)}
     */
    public JsonObject toJson() {
        return OptionsJson.write(this);
    }

    /** {@return the engine's settings} */
    public EngineOptions getEngineOptions() {
        return engine;
    }

    /**
     * Replaces all of the engine's settings.
     *
     * @param options the new settings
     * @return this
     */
    public TransferClientOptions setEngineOptions(EngineOptions options) {
        engine = Objects.requireNonNull(options, "options");
        return this;
    }

    /**
     * Changes some of the engine's settings, for example {@code configureEngine(engine ->
     * engine.noListener().pollers(2))}.
     *
     * @param change called once, before this returns, with a builder of the current settings
     * @return this
     * @throws IllegalArgumentException if a setting is out of range
     */
    public TransferClientOptions configureEngine(Consumer<EngineOptions.Builder> change) {
        engine = engine.toBuilder().with(change).build();
        return this;
    }

    /** {@return whether clients of one Vert.x and one {@linkplain #setName name} share an engine; default {@value #DEFAULT_SHARED}} */
    public boolean isShared() {
        return shared;
    }

    /**
     * Shares an engine with the other clients of this Vert.x and {@linkplain #setName name}. The options of the first
     * client apply.
     *
     * @param share whether to share
     * @return this
     */
    public TransferClientOptions setShared(boolean share) {
        shared = share;
        return this;
    }

    /** {@return the name of the shared engine, without meaning if none is shared; default {@value #DEFAULT_NAME}} */
    public String getName() {
        return name;
    }

    /**
     * Names the shared engine.
     *
     * @param sharedName any text
     * @return this
     */
    public TransferClientOptions setName(String sharedName) {
        name = Objects.requireNonNull(sharedName, "sharedName");
        return this;
    }

    /** {@return how many bytes of registered memory the engine keeps for transfers of buffers; default 4 MiB} */
    public long getStagingBytes() {
        return stagingBytes;
    }

    /**
     * Sets how much registered memory the engine has for transfers of buffers. The first of them allocates it. It
     * limits their bytes in flight: while all of it is in use, they wait. It holds at least one slot.
     *
     * @param bytes 1 to 64 GiB
     * @return this
     */
    public TransferClientOptions setStagingBytes(long bytes) {
        stagingBytes = between("stagingBytes", bytes, 1, MOST_STAGING_BYTES);
        return this;
    }

    /** {@return the longest chunk of a buffer, in bytes; default 64 KiB} */
    public int getStagingSlotBytes() {
        return stagingSlotBytes;
    }

    /**
     * Sets the size of a slot of staging memory. Each chunk of a buffer takes a whole slot.
     *
     * @param bytes 1 KiB to 64 MiB
     * @return this
     */
    public TransferClientOptions setStagingSlotBytes(int bytes) {
        stagingSlotBytes = (int) between("stagingSlotBytes", bytes, LEAST_SLOT_BYTES, MOST_SLOT_BYTES);
        return this;
    }

    /** {@return whether the engine's meters go to the registry of Vert.x' metrics; default {@value #DEFAULT_METRICS_ENABLED}} */
    public boolean isMetricsEnabled() {
        return metricsEnabled;
    }

    /**
     * Registers the engine's meters with the registry of Vert.x metrics, if those are enabled and {@code
     * sluice-metrics} is on the class path. Also binding the engine explicitly is harmless.
     *
     * @param enabled whether to register them
     * @return this
     */
    public TransferClientOptions setMetricsEnabled(boolean enabled) {
        metricsEnabled = enabled;
        return this;
    }

    /** {@return the name of the registry for the engine's meters; default {@value #DEFAULT_METRICS_REGISTRY_NAME}} */
    public String getMetricsRegistryName() {
        return metricsRegistryName;
    }

    /**
     * Names the registry for the engine's meters.
     *
     * @param registryName the name, as for {@code MicrometerMetricsOptions.setRegistryName}
     * @return this
     */
    public TransferClientOptions setMetricsRegistryName(String registryName) {
        metricsRegistryName = Objects.requireNonNull(registryName, "registryName");
        return this;
    }

    /** {@return how many peers have meters of their own; default {@value #DEFAULT_METRICS_PEERS}} */
    public int getMetricsPeers() {
        return metricsPeers;
    }

    /**
     * Exports meters for each peer. Peers above the limit share one set.
     *
     * @param most how many peers have their own meters, 0 to 10,000
     * @return this
     */
    public TransferClientOptions setMetricsPeers(int most) {
        metricsPeers = (int) between("metricsPeers", most, 0, MOST_PEERS);
        return this;
    }

    /** Omits the token. */
    @Override
    public String toString() {
        return "TransferClientOptions" + toJson().encode();
    }

    private static long between(String name, long value, long lowest, long highest) {
        if (value < lowest || value > highest) {
            throw new IllegalArgumentException(name + " is " + lowest + " to " + highest + ", not " + value);
        }
        return value;
    }
}
