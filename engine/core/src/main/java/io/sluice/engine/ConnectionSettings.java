package io.sluice.engine;

import static io.sluice.engine.EngineSettings.between;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** The part of {@link EngineOptions.Builder} for connections: paths, lanes, windows and time-outs. */
abstract sealed class ConnectionSettings extends PollerSettings permits PeerSettings {
    ConnectionSettings(EngineSettings settings) {
        super(settings);
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
    public EngineOptions.Builder transports(List<String> names) {
        settings.transports = List.copyOf(names);
        return self();
    }

    /**
     * Chooses the path that carries transfers of a region, where several paths reach it. Default: {@link PathPolicy#inOrder()}.
     *
     * @param policy asked on pollers when regions are attached
     * @return this
     */
    public EngineOptions.Builder pathPolicy(PathPolicy policy) {
        settings.pathPolicy = Objects.requireNonNull(policy, "policy");
        return self();
    }

    /**
     * Lanes a connection: sockets on tcp, queue pairs on verbs. The lower of both sides' numbers counts. Default 1;
     * {@code SLUICE_LANES}.
     *
     * @param count 1 to 16
     * @return this
     */
    public EngineOptions.Builder lanes(int count) {
        settings.lanes = between("lanes", count, 1, 16);
        return self();
    }

    /**
     * The most operations in flight on a connection. Default 256; {@code SLUICE_WINDOW_OPERATIONS}.
     *
     * @param count 1 to 65,536
     * @return this
     */
    public EngineOptions.Builder windowOperations(int count) {
        settings.windowOperations = between("windowOperations", count, 1, 65_536);
        return self();
    }

    /**
     * The most bytes in flight on a connection. Default 64 MiB; {@code SLUICE_WINDOW_BYTES}.
     *
     * @param bytes at least 64 KiB
     * @return this
     */
    public EngineOptions.Builder windowBytes(long bytes) {
        settings.windowBytes = between("windowBytes", bytes, EngineSettings.MIN_WINDOW_BYTES, 1L << 40);
        return self();
    }

    /**
     * The most operations in flight over all connections. Default 65,536; {@code SLUICE_ENGINE_WINDOW_OPERATIONS}.
     *
     * @param count 1 to 2,097,152
     * @return this
     */
    public EngineOptions.Builder engineWindowOperations(int count) {
        settings.engineWindowOperations = between("engineWindowOperations", count, 1, 1 << 21);
        return self();
    }

    /**
     * The most bytes in flight over all connections. Default 1 GiB; {@code SLUICE_ENGINE_WINDOW_BYTES}. If it is less
     * than {@link #windowBytes(long)}, chunks are an eighth of this at most.
     *
     * @param bytes at least 64 KiB
     * @return this
     */
    public EngineOptions.Builder engineWindowBytes(long bytes) {
        settings.engineWindowBytes = between("engineWindowBytes", bytes, EngineSettings.MIN_WINDOW_BYTES, 1L << 40);
        return self();
    }

    /**
     * The most transfers submitted on a connection and not ended. Default 65,536; {@code SLUICE_MAX_PENDING}.
     *
     * @param count at least 1
     * @return this
     */
    public EngineOptions.Builder maxPending(int count) {
        settings.maxPending = between("maxPending", count, 1, 1 << 24);
        return self();
    }

    /**
     * How long a peer may be silent, or a lane make no progress, before the connection is lost. Heartbeats go four
     * times as often. Default 10 s; {@code SLUICE_LIVENESS_TIMEOUT}.
     *
     * @param time 100 ms to 1 h
     * @return this
     */
    public EngineOptions.Builder livenessTimeout(Duration time) {
        settings.livenessTimeout = between("livenessTimeout", time, Duration.ofMillis(100), Duration.ofHours(1));
        return self();
    }

    /**
     * How long connecting may take, authentication and lanes included. Default 10 s; {@code SLUICE_CONNECT_TIMEOUT}.
     *
     * @param time 10 ms to 1 h
     * @return this
     */
    public EngineOptions.Builder connectTimeout(Duration time) {
        settings.connectTimeout = between("connectTimeout", time, Duration.ofMillis(10), Duration.ofHours(1));
        return self();
    }

    /**
     * How priorities age: a waiting transfer alternates with those of the next higher priority that were submitted later by
     * more than this. Default 100 ms; {@code SLUICE_PRIORITY_AGING}.
     *
     * @param time zero (no difference between priorities) to an hour
     * @return this
     */
    public EngineOptions.Builder priorityAging(Duration time) {
        settings.priorityAging = between("priorityAging", time, Duration.ZERO, Duration.ofHours(1));
        return self();
    }

    /**
     * The checks against bytes that are changed in transit. A connection has them if either side asks for them. Default
     * {@link Integrity#NONE}; {@code SLUICE_INTEGRITY}, {@code none} or {@code crc32c}.
     *
     * @param integrity the checks that this engine asks for
     * @return this
     */
    public EngineOptions.Builder integrity(Integrity integrity) {
        settings.integrity = Objects.requireNonNull(integrity, "integrity");
        return self();
    }

    /**
     * The size of the kernel's buffers of each tcp lane. Default 0, the system's own automatic sizes;
     * {@code SLUICE_SOCKET_BUFFER_BYTES}.
     *
     * @param bytes 0 to 1 GiB
     * @return this
     */
    public EngineOptions.Builder socketBufferBytes(int bytes) {
        settings.socketBufferBytes = between("socketBufferBytes", bytes, 0, 1 << 30);
        return self();
    }
}
