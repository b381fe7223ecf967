package io.sluice.engine.transport.verbs;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Environment;
import io.sluice.engine.transport.TransportOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the verbs transport, for {@link EngineOptions.Builder#transport}. Immutable. Each method of {@link
 * Builder} documents its default and its variable. The defaults of the queue pair's attributes are those of UCCL P2P,
 * except for the RNR retries, which are bounded here.
 */
public final class VerbsOptions implements TransportOptions {
    static final String VARIABLES = "SLUICE_VERBS_";
    static final int CHOOSE_GID = -1;
    static final int LEAST_SEND_DEPTH = 128;
    private static final int PLACES_FOR_MESSAGES = 128;

    private final Builder settings;

    private VerbsOptions(Builder settings) {
        this.settings = new Builder(settings);
    }

    /**
     * Returns a builder with the defaults.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the options given to the engine, or those of its variables. */
    static VerbsOptions of(EngineOptions options) {
        VerbsOptions given = options.transport(VerbsOptions.class);
        return given != null
                ? given
                : builder().environment(options.variables(VARIABLES)).build();
    }

    List<String> devices() {
        return settings.devices;
    }

    @Nullable
    String near() {
        return settings.near;
    }

    int gidIndex() {
        return settings.gidIndex;
    }

    /** Returns how many work requests a queue pair holds, given a window of operations. */
    int sendDepth(int windowOperations) {
        return settings.sendDepth > 0 ? settings.sendDepth : Math.max(256, windowOperations + PLACES_FOR_MESSAGES);
    }

    int readDepth() {
        return settings.readDepth;
    }

    int serviceLevel() {
        return settings.serviceLevel;
    }

    int trafficClass() {
        return settings.trafficClass;
    }

    int hopLimit() {
        return settings.hopLimit;
    }

    /** Returns the largest path MTU that a port should use. */
    int pathMtu(Port port) {
        return settings.pathMtu > 0 ? Math.min(settings.pathMtu, port.mtu()) : port.mtu();
    }

    int partitionKeyIndex() {
        return settings.partitionKeyIndex;
    }

    int timeout() {
        return settings.timeout;
    }

    int retries() {
        return settings.retries;
    }

    int rnrRetries() {
        return settings.rnrRetries;
    }

    int minimumRnrTimer() {
        return settings.minimumRnrTimer;
    }

    boolean relaxedOrdering() {
        return settings.relaxedOrdering;
    }

    boolean onDemandPaging() {
        return settings.onDemandPaging;
    }

    /** Builds options. Not thread-safe. */
    public static final class Builder {
        private static final String AUTO = "auto";

        private List<String> devices = List.of();
        private @Nullable String near;
        private int gidIndex = CHOOSE_GID;
        private int sendDepth;
        private int readDepth = 16;
        private int serviceLevel;
        private int trafficClass;
        private int hopLimit = 64;
        private int pathMtu;
        private int partitionKeyIndex;
        private int timeout = 14;
        private int retries = 7;
        private int rnrRetries = 6;
        private int minimumRnrTimer = 12;
        private boolean relaxedOrdering;
        private boolean onDemandPaging;

        private Builder() {}

        private Builder(Builder other) {
            devices = other.devices;
            near = other.near;
            gidIndex = other.gidIndex;
            sendDepth = other.sendDepth;
            readDepth = other.readDepth;
            serviceLevel = other.serviceLevel;
            trafficClass = other.trafficClass;
            hopLimit = other.hopLimit;
            pathMtu = other.pathMtu;
            partitionKeyIndex = other.partitionKeyIndex;
            timeout = other.timeout;
            retries = other.retries;
            rnrRetries = other.rnrRetries;
            minimumRnrTimer = other.minimumRnrTimer;
            relaxedOrdering = other.relaxedOrdering;
            onDemandPaging = other.onDemandPaging;
        }

        /**
         * Sets the devices to use. Several are rails: every region is registered with each, and transfers are spread
         * over them, those of a GPU's bytes over the nearest. The first carries the atomic operations of the adapter's
         * domain. Default: the one with an active port that is {@linkplain #near nearest}; {@code
         * SLUICE_VERBS_DEVICES=mlx5_0,mlx5_1:2} ({@code auto} for the default, {@code all} for all devices with an
         * active port).
         *
         * @param names as {@code ibv_devices} shows them, with {@code :PORT} for another port than the first active
         *     one; or {@code all} alone; empty for the default
         * @return this
         */
        public Builder devices(String... names) {
            this.devices = List.of(names);
            return this;
        }

        /**
         * Sets the place that the default device should be near. Default: the GPUs that this process sees, if the
         * engine carries their memory, then the NUMA node of the processors that it may use, if they share one; {@code
         * SLUICE_VERBS_NEAR}.
         *
         * @param place {@code numa:1}, or the address of a PCIe device such as {@code 0000:17:00.0}
         * @return this
         */
        public Builder near(String place) {
            this.near = Objects.requireNonNull(place, "place");
            return this;
        }

        /**
         * Sets the entry of the port's GID table to use. Default: the best one, RoCE v2 and an IPv4 address first;
         * {@code SLUICE_VERBS_GID_INDEX}.
         *
         * @param index 0 to 255
         * @return this
         */
        public Builder gidIndex(int index) {
            this.gidIndex = between("the GID index", index, 0, 255);
            return this;
        }

        /**
         * Sets how many work requests a queue pair holds. Default: the connection's window of operations and some for
         * messages, or less if the device cannot; {@code SLUICE_VERBS_SEND_DEPTH}.
         *
         * @param requests 128 to 131,072
         * @return this
         */
        public Builder sendDepth(int requests) {
            this.sendDepth = between("the send depth", requests, LEAST_SEND_DEPTH, 131_072);
            return this;
        }

        /**
         * Sets how many reads and atomic operations a queue pair has in flight. Default 16, or less if a device cannot;
         * {@code SLUICE_VERBS_READ_DEPTH}.
         *
         * @param requests 1 to 255
         * @return this
         */
        public Builder readDepth(int requests) {
            this.readDepth = between("the read depth", requests, 1, 255);
            return this;
        }

        /**
         * Sets the service level (InfiniBand) or priority (RoCE). Default 0; {@code SLUICE_VERBS_SERVICE_LEVEL}.
         *
         * @param level 0 to 15
         * @return this
         */
        public Builder serviceLevel(int level) {
            this.serviceLevel = between("the service level", level, 0, 15);
            return this;
        }

        /**
         * Sets the traffic class: on RoCE v2 the DSCP is its upper six bits. Default 0; {@code
         * SLUICE_VERBS_TRAFFIC_CLASS}.
         *
         * @param trafficClassOfPackets 0 to 255
         * @return this
         */
        public Builder trafficClass(int trafficClassOfPackets) {
            this.trafficClass = between("the traffic class", trafficClassOfPackets, 0, 255);
            return this;
        }

        /**
         * Sets the hop limit of packets with a global header. Default 64; {@code SLUICE_VERBS_HOP_LIMIT}.
         *
         * @param hops 1 to 255
         * @return this
         */
        public Builder hopLimit(int hops) {
            this.hopLimit = between("the hop limit", hops, 1, 255);
            return this;
        }

        /**
         * Sets an upper bound of the path MTU, which is the smaller of the two ports' active MTUs. Default 4096; {@code
         * SLUICE_VERBS_PATH_MTU}.
         *
         * @param bytes 256, 512, 1024, 2048 or 4096
         * @return this
         */
        public Builder pathMtu(int bytes) {
            if (Integer.bitCount(bytes) != 1) {
                throw new IllegalArgumentException("the path MTU is 256, 512, 1024, 2048 or 4096, not " + bytes);
            }
            this.pathMtu = between("the path MTU", bytes, 256, 4096);
            return this;
        }

        /**
         * Sets the index of the partition key. Default 0; {@code SLUICE_VERBS_PARTITION_KEY_INDEX}.
         *
         * @param index 0 to 65,535
         * @return this
         */
        public Builder partitionKeyIndex(int index) {
            this.partitionKeyIndex = between("the partition key's index", index, 0, 65_535);
            return this;
        }

        /**
         * Sets how long an adapter waits for an acknowledgement: 4.096 µs × 2^exponent. Default 14 (67 ms); {@code
         * SLUICE_VERBS_TIMEOUT}.
         *
         * @param exponent 1 to 31; the wait cannot be unlimited
         * @return this
         */
        public Builder timeout(int exponent) {
            this.timeout = between("the time-out", exponent, 1, 31);
            return this;
        }

        /**
         * Sets how often an adapter retransmits without an acknowledgement before the lane breaks. Default 7; {@code
         * SLUICE_VERBS_RETRIES}.
         *
         * @param count 0 to 7
         * @return this
         */
        public Builder retries(int count) {
            this.retries = between("the number of retries", count, 0, 7);
            return this;
        }

        /**
         * Sets how often an adapter retries when the peer has posted no receive. Default 6; {@code
         * SLUICE_VERBS_RNR_RETRIES}.
         *
         * @param count 0 to 6; the specification's 7 would be unlimited
         * @return this
         */
        public Builder rnrRetries(int count) {
            this.rnrRetries = between("the number of RNR retries (7 would be unlimited)", count, 0, 6);
            return this;
        }

        /**
         * Sets how long a peer waits when no receive is posted here, as the specification's code. Default 12 (640 µs);
         * {@code SLUICE_VERBS_MINIMUM_RNR_TIMER}.
         *
         * @param code 0 to 31
         * @return this
         */
        public Builder minimumRnrTimer(int code) {
            this.minimumRnrTimer = between("the minimum RNR timer", code, 0, 31);
            return this;
        }

        /**
         * Lets the adapter's writes into regions overtake each other on PCIe, if it can. Notifications, signals and
         * {@code quiet} still follow earlier writes. Default false; {@code SLUICE_VERBS_RELAXED_ORDERING=true}.
         *
         * @param relaxed true for more bandwidth on some machines
         * @return this
         */
        public Builder relaxedOrdering(boolean relaxed) {
            this.relaxedOrdering = relaxed;
            return this;
        }

        /**
         * Registers regions without locking their pages, if every chosen device can; otherwise registrations fail with
         * an error that says so. Default false; {@code SLUICE_VERBS_ON_DEMAND_PAGING=true}.
         *
         * @param onDemand true to let the adapter fault pages in
         * @return this
         */
        public Builder onDemandPaging(boolean onDemand) {
            this.onDemandPaging = onDemand;
            return this;
        }

        /**
         * Overrides settings with the {@code SLUICE_VERBS_*} variables that are set.
         *
         * @param variables the variables by name; others are ignored
         * @return this
         * @throws IllegalArgumentException if a variable is invalid; the message names it
         */
        public Builder environment(Map<String, String> variables) {
            Environment from = new Environment(variables);
            from.text(
                    VARIABLES + "DEVICES",
                    value -> devices(
                            value.equals(AUTO)
                                    ? new String[0]
                                    : Arrays.stream(value.split(","))
                                            .map(String::strip)
                                            .toArray(String[]::new)));
            from.text(VARIABLES + "NEAR", this::near);
            from.number(VARIABLES + "GID_INDEX", this::gidIndex);
            from.number(VARIABLES + "SEND_DEPTH", this::sendDepth);
            from.number(VARIABLES + "READ_DEPTH", this::readDepth);
            from.number(VARIABLES + "SERVICE_LEVEL", this::serviceLevel);
            from.number(VARIABLES + "TRAFFIC_CLASS", this::trafficClass);
            from.number(VARIABLES + "HOP_LIMIT", this::hopLimit);
            from.number(VARIABLES + "PATH_MTU", this::pathMtu);
            from.number(VARIABLES + "PARTITION_KEY_INDEX", this::partitionKeyIndex);
            from.number(VARIABLES + "TIMEOUT", this::timeout);
            from.number(VARIABLES + "RETRIES", this::retries);
            from.number(VARIABLES + "RNR_RETRIES", this::rnrRetries);
            from.number(VARIABLES + "MINIMUM_RNR_TIMER", this::minimumRnrTimer);
            from.flag(VARIABLES + "RELAXED_ORDERING", this::relaxedOrdering);
            from.flag(VARIABLES + "ON_DEMAND_PAGING", this::onDemandPaging);
            return this;
        }

        /**
         * Returns the options.
         *
         * @return an immutable copy of the settings
         */
        public VerbsOptions build() {
            return new VerbsOptions(this);
        }

        private static int between(String name, int value, int lowest, int highest) {
            if (value < lowest || value > highest) {
                throw new IllegalArgumentException(name + " is " + lowest + " to " + highest + ", not " + value);
            }
            return value;
        }
    }
}
