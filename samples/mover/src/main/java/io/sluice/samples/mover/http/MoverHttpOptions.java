package io.sluice.samples.mover.http;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a mover is served over HTTP. Immutable.
 *
 * @param mover the mover's name in the directory, such as {@code decode/a}; it may run in another process of a clustered
 *     Vert.x
 * @param host where to listen. It answers every client: name another host than loopback only in a network that you trust
 * @param port 0 for any free one
 * @param metricsRegistry the name of the registry of Vert.x' metrics that {@code /metrics} shows; {@code null} for none
 * @param isLocal whether the mover runs on the same Vert.x, so that none of its name elsewhere in a cluster is meant
 */
public record MoverHttpOptions(
        String mover, String host, int port, @Nullable String metricsRegistry, Limits limits, boolean isLocal) {
    /** The port that is taken unless another is told. */
    public static final int DEFAULT_PORT = 8080;

    public MoverHttpOptions {
        Objects.requireNonNull(mover, "mover");
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(limits, "limits");
    }

    /** On loopback, at any free port, without metrics. */
    public static MoverHttpOptions of(String mover) {
        return new MoverHttpOptions(mover, "127.0.0.1", 0, null, Limits.defaults(), false);
    }

    public MoverHttpOptions listening(String onHost, int onPort) {
        return new MoverHttpOptions(mover, onHost, onPort, metricsRegistry, limits, isLocal);
    }

    public MoverHttpOptions withMetricsRegistry(@Nullable String registry) {
        return new MoverHttpOptions(mover, host, port, registry, limits, isLocal);
    }

    public MoverHttpOptions withLimits(Limits other) {
        return new MoverHttpOptions(mover, host, port, metricsRegistry, other, isLocal);
    }

    /** The same for the mover of a name on the same Vert.x. */
    MoverHttpOptions servingLocal(String directoryName) {
        return new MoverHttpOptions(directoryName, host, port, metricsRegistry, limits, true);
    }

    /**
     * Bounds on what clients hold.
     *
     * @param eventStreams how many clients may listen for events at a time
     * @param bodyBytes the largest request
     * @param connections the most at a time, 2 or more, half of which one address may have
     * @param requestTimeout until the head of a request has come, from the opening of its connection or the end of the answer
     *     before it, and again until its body has; positive. A connection that waits longer is closed
     */
    public record Limits(int eventStreams, long bodyBytes, int connections, Duration requestTimeout) {
        private static final int DEFAULT_CONNECTIONS = 512;
        private static final int LEAST_CONNECTIONS = 16;
        private static final Duration DEFAULT_REQUEST_TIMEOUT = Duration.ofSeconds(30);
        // the rest is for the engine, for another mover in the process and for the JVM itself
        private static final int PART_OF_DESCRIPTORS = 4;
        /** 4,096 hashes in quotes, three times over. */
        private static final long DEFAULT_BODY_BYTES = 256 << 10;

        public Limits {
            if (connections < 2 || !requestTimeout.isPositive()) {
                throw new IllegalArgumentException(
                        "there is room for 2 connections and time for a request at least, not " + connections
                                + " connections and " + requestTimeout);
            }
            if (eventStreams < 1 || bodyBytes < 1) {
                throw new IllegalArgumentException("limits are positive");
            }
        }

        /** 128 streams, 256 KiB, 512 connections but no more than a quarter of the process' descriptors, 30 seconds. */
        public static Limits defaults() {
            long part = ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                    ? system.getMaxFileDescriptorCount() / PART_OF_DESCRIPTORS
                    : DEFAULT_CONNECTIONS;
            int connections = Math.clamp(part, LEAST_CONNECTIONS, DEFAULT_CONNECTIONS);
            return new Limits(128, DEFAULT_BODY_BYTES, connections, DEFAULT_REQUEST_TIMEOUT);
        }
    }
}
