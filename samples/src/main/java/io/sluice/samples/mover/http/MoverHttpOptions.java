package io.sluice.samples.mover.http;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a mover is served over HTTP. Immutable.
 *
 * @param mover the mover's name in the directory, such as {@code decode/a}; it may run in another process of a clustered
 *     Vert.x
 * @param host where to listen. It answers whoever comes, so name another host than loopback only in a network that you trust
 * @param port 0 for any free one
 * @param metricsRegistry the name of the registry of Vert.x' metrics that {@code /metrics} shows; {@code null} for none
 * @param maxEventStreams how many clients may listen for events at a time
 * @param maxBodyBytes the largest request
 * @param isLocal whether the mover runs on the same Vert.x, so that none of its name elsewhere in a cluster is meant
 */
public record MoverHttpOptions(
        String mover,
        String host,
        int port,
        @Nullable String metricsRegistry,
        int maxEventStreams,
        long maxBodyBytes,
        boolean isLocal) {

    /** The port that is taken unless another is told. */
    public static final int DEFAULT_PORT = 8080;

    private static final String LOOPBACK = "127.0.0.1";
    private static final int DEFAULT_EVENT_STREAMS = 128;

    /** 4,096 hashes in quotes, three times over. */
    private static final long DEFAULT_BODY_BYTES = 256 << 10;

    /** Checks the ranges. */
    public MoverHttpOptions {
        Objects.requireNonNull(mover, "mover");
        Objects.requireNonNull(host, "host");
        if (maxEventStreams < 1 || maxBodyBytes < 1) {
            throw new IllegalArgumentException("limits are positive");
        }
    }

    /**
     * On loopback, at any free port, without metrics.
     *
     * @param mover the mover's name in the directory
     */
    public static MoverHttpOptions of(String mover) {
        return new MoverHttpOptions(mover, LOOPBACK, 0, null, DEFAULT_EVENT_STREAMS, DEFAULT_BODY_BYTES, false);
    }

    /** The same for another mover. */
    public MoverHttpOptions serving(String directoryName) {
        return new MoverHttpOptions(directoryName, host, port, metricsRegistry, maxEventStreams, maxBodyBytes, isLocal);
    }

    /** The same at another place. */
    public MoverHttpOptions listening(String onHost, int onPort) {
        return new MoverHttpOptions(mover, onHost, onPort, metricsRegistry, maxEventStreams, maxBodyBytes, isLocal);
    }

    /** The same with metrics. */
    public MoverHttpOptions withMetricsRegistry(@Nullable String registry) {
        return new MoverHttpOptions(mover, host, port, registry, maxEventStreams, maxBodyBytes, isLocal);
    }

    /** The same with more or fewer clients that listen. */
    public MoverHttpOptions withMaxEventStreams(int most) {
        return new MoverHttpOptions(mover, host, port, metricsRegistry, most, maxBodyBytes, isLocal);
    }

    /** The same for the mover of that name on the same Vert.x, and no other. */
    public MoverHttpOptions local() {
        return new MoverHttpOptions(mover, host, port, metricsRegistry, maxEventStreams, maxBodyBytes, true);
    }
}
