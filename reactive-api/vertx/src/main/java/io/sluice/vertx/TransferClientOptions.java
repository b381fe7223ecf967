package io.sluice.vertx;

import io.sluice.engine.EngineOptions;
import io.vertx.core.json.JsonObject;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The settings of a {@link TransferClient}: its own, and the {@link EngineOptions} of its engine. The engine's start with the
 * {@code SLUICE_*} variables of the process over the engine's defaults; {@link #setEngineOptions}, {@link #configureEngine} and JSON
 * override them. Times in JSON are in milliseconds, sizes in bytes.
 *
 * <p>Not thread-safe.
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
    private boolean shared = DEFAULT_SHARED;
    private String name = DEFAULT_NAME;
    private long stagingBytes = DEFAULT_STAGING_BYTES;
    private int stagingSlotBytes = DEFAULT_STAGING_SLOT_BYTES;
    private boolean metricsEnabled = DEFAULT_METRICS_ENABLED;
    private String metricsRegistryName = DEFAULT_METRICS_REGISTRY_NAME;
    private int metricsPeers = DEFAULT_METRICS_PEERS;

    /**
     * The defaults, overridden by the environment.
     *
     * @throws IllegalArgumentException if a {@code SLUICE_*} variable cannot be read; the message names it
     */
    public TransferClientOptions() {
        engine = EngineOptions.fromEnvironment();
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
     * The defaults, overridden by the environment, overridden by JSON. Keys are those that {@link #toJson()} writes, and {@code token}:
     * the shared secret, at least 16 bytes of UTF-8. Unknown keys are ignored. Beyond loopback an engine listens with a token only.
     *
     * @param json the settings that differ from the defaults
     * @throws IllegalArgumentException if a value is of the wrong type or out of range; the message names the key
     */
    public TransferClientOptions(JsonObject json) {
        this();
        OptionsJson.read(json, this);
    }

    /**
     * The client's settings, and those of the engine that have a key: {@code engineName}, {@code listenHost}, {@code listenPort},
     * {@code listening} (false if it does not listen), {@code advertisedHost}, {@code advertisedPort}, {@code transports},
     * {@code pollers}, {@code windowOperations}, {@code windowBytes}, {@code engineWindowOperations}, {@code engineWindowBytes},
     * {@code maxPending}, {@code maxConnections}, {@code lanes}, {@code notificationCredits}, {@code maxNotificationBytes},
     * {@code maxAttachedRegions}, {@code livenessTimeout}, {@code connectTimeout} and {@code allowUnauthenticatedPeers}. They mean what
     * the methods of {@link EngineOptions.Builder} with these names say. The token is a secret and left out.
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
     * @param options the new ones
     * @return this
     */
    public TransferClientOptions setEngineOptions(EngineOptions options) {
        engine = Objects.requireNonNull(options, "options");
        return this;
    }

    /**
     * Changes some of the engine's settings, for instance {@code configureEngine(engine -> engine.noListener().pollers(2))}.
     *
     * @param change gets a builder that holds the current settings, and is called once, before this returns
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
     * Shares an engine with the other clients of this Vert.x and this {@linkplain #setName name}. The first one's options count.
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
     * @param sharedName any
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
     * Sets how much registered memory the engine keeps for transfers of buffers. The first of them allocates it; it bounds what they
     * have in flight: while it is all in use, they wait. It holds at least one slot.
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
     * Sets the length of a slot of staging memory. Each chunk of a buffer takes a whole one.
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

    /** {@return the name of the registry for the engine's meters; default {@value #DEFAULT_METRICS_REGISTRY_NAME}} */
    public String getMetricsRegistryName() {
        return metricsRegistryName;
    }

    /**
     * Names the registry for the engine's meters.
     *
     * @param registryName as {@code MicrometerMetricsOptions.setRegistryName} has it
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
     * Exports meters for peers, too. Peers beyond the limit share one set.
     *
     * @param most peers with meters of their own, 0 to 10,000
     * @return this
     */
    public TransferClientOptions setMetricsPeers(int most) {
        metricsPeers = (int) between("metricsPeers", most, 0, MOST_PEERS);
        return this;
    }

    /** Leaves the token out. */
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
