package io.sluice.engine;

import java.util.Objects;

/**
 * The update of a signal that an operation makes. Reusable.
 *
 * @param signal which one
 * @param addend what is added; wraps around as Java's addition does
 * @param order what it comes after
 */
public record SignalUpdate(RemoteSignal signal, long addend, SignalOrder order) {
    /** Checks for null. */
    public SignalUpdate {
        Objects.requireNonNull(signal, "signal");
        Objects.requireNonNull(order, "order");
    }
}
