package io.sluice.samples.mover;

import io.sluice.directory.Directory;
import io.sluice.engine.EngineOptions;
import io.sluice.samples.mover.move.Moves.MoveLimits;
import io.sluice.samples.mover.peer.MoverRole;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * The configuration of a mover. Immutable.
 *
 * @param name its name among those of its role: 1 to 64 letters, digits, {@code . _ -}
 * @param directory where it finds others and is found; of this process, of a clustered Vert.x, or any other. It stays open
 *     when the mover ends
 * @param engine of its transfer engine; the mover names it. Its {@linkplain EngineOptions#engineWindowOperations() window}
 *     is what the moves have in flight together
 * @param metricsRegistry the name of the registry of Vert.x' metrics that the engine's meters go to
 * @param memoryBytes the most that all its pools may take, with what it keeps on the heap about their blocks
 */
public record MoverOptions(
        MoverRole role,
        String name,
        Directory directory,
        EngineOptions engine,
        String metricsRegistry,
        long memoryBytes,
        MoveLimits limits) {
    /** How much memory its pools may take, unless told otherwise. */
    public static final long DEFAULT_MEMORY_BYTES = 4L << 30;

    /** How many operations all moves of a mover have in flight, unless told otherwise. */
    public static final int DEFAULT_WINDOW_OPERATIONS = 256;

    /** How many bytes all moves of a mover have in flight, unless told otherwise. */
    public static final long DEFAULT_WINDOW_BYTES = 64L << 20;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    public MoverOptions {
        Objects.requireNonNull(role, "role");
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(engine, "engine");
        Objects.requireNonNull(metricsRegistry, "metricsRegistry");
        Objects.requireNonNull(limits, "limits");
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "a mover's name is 1 to 64 letters, digits, '.', '_' and '-', not '" + name + "'");
        }
        if (memoryBytes < 1) {
            throw new IllegalArgumentException("a mover needs memory, not " + memoryBytes + " bytes");
        }
    }

    /**
     * With the defaults, and the environment's settings for the engine.
     *
     * @return a mover that listens on loopback, unless {@code SLUICE_LISTEN} says otherwise
     */
    public static MoverOptions of(MoverRole role, String name, Directory directory) {
        EngineOptions engine =
                windowed(EngineOptions.builder()).environment(System.getenv()).build();
        return new MoverOptions(role, name, directory, engine, "default", DEFAULT_MEMORY_BYTES, MoveLimits.defaults());
    }

    /** The same builder with the window that a mover has by default: the whole engine's is a connection's. */
    public static EngineOptions.Builder windowed(EngineOptions.Builder builder) {
        return builder.engineWindowOperations(DEFAULT_WINDOW_OPERATIONS).engineWindowBytes(DEFAULT_WINDOW_BYTES);
    }

    /** Its name in the directory: role and name. */
    public String directoryName() {
        return role.prefix() + name;
    }

    public MoverOptions withEngine(EngineOptions options) {
        return new MoverOptions(role, name, directory, options, metricsRegistry, memoryBytes, limits);
    }

    public MoverOptions withMetricsRegistry(String registry) {
        return new MoverOptions(role, name, directory, engine, registry, memoryBytes, limits);
    }

    public MoverOptions withMemoryBytes(long bytes) {
        return new MoverOptions(role, name, directory, engine, metricsRegistry, bytes, limits);
    }

    public MoverOptions withLimits(MoveLimits other) {
        return new MoverOptions(role, name, directory, engine, metricsRegistry, memoryBytes, other);
    }
}
