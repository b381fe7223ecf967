package io.sluice.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How one connection is made.
 *
 * @param group whose loop drives it, here and at the peer; {@code null} for any loop. A peer of an earlier version takes any
 */
public record ConnectOptions(@Nullable LoopGroup group) {
    private static final ConnectOptions DEFAULTS = new ConnectOptions(null);

    /**
     * Without a group.
     *
     * @return the defaults
     */
    public static ConnectOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The same in a group.
     *
     * @param value whose loop drives the connection
     * @return new options
     */
    public ConnectOptions inGroup(LoopGroup value) {
        return new ConnectOptions(Objects.requireNonNull(value, "value"));
    }
}
