package io.sluice.engine;

import java.util.Objects;

/**
 * An update that an operation makes to a signal. Immutable and reusable.
 *
 * @param signal the signal to update
 * @param addend the number to add; wraps around like Java's addition
 * @param order the transfers that the update follows
 */
public record SignalUpdate(RemoteSignal signal, long addend, SignalOrder order) {
    /** Checks for null. */
    public SignalUpdate {
        Objects.requireNonNull(signal, "signal");
        Objects.requireNonNull(order, "order");
    }
}
