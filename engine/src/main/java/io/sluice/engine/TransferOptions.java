package io.sluice.engine;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How one transfer is carried out.
 *
 * @param deadline the longest time from submission to the terminal signal, waiting for credits included; positive, at most
 *     365 days, or {@code null} for none (the connection's liveness time-out still bounds it once it is posted)
 */
public record TransferOptions(@Nullable Duration deadline) {
    private static final Duration LONGEST = Duration.ofDays(365);
    private static final TransferOptions DEFAULTS = new TransferOptions(null);

    /** Checks the range. */
    public TransferOptions {
        if (deadline != null && (!deadline.isPositive() || deadline.compareTo(LONGEST) > 0)) {
            throw new IllegalArgumentException("a deadline is positive and at most " + LONGEST + ", not " + deadline);
        }
    }

    /**
     * No deadline.
     *
     * @return the defaults
     */
    public static TransferOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The same with a deadline.
     *
     * @param time the longest time from submission to the terminal signal
     * @return new options
     */
    public TransferOptions withDeadline(Duration time) {
        return new TransferOptions(Objects.requireNonNull(time, "time"));
    }
}
