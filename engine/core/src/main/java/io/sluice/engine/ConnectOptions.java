package io.sluice.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of one connection.
 *
 * @param group the group whose loop drives the connection, on both sides; {@code null} for any loop. A peer of an
 *     earlier version uses any of its loops
 */
public record ConnectOptions(@Nullable LoopGroup group) {
    private static final ConnectOptions DEFAULTS = new ConnectOptions(null);

    /**
     * Returns the default options, without a group.
     *
     * @return the defaults
     */
    public static ConnectOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with a group.
     *
     * @param value the group whose loop drives the connection
     * @return new options
     */
    public ConnectOptions inGroup(LoopGroup value) {
        return new ConnectOptions(Objects.requireNonNull(value, "value"));
    }
}
