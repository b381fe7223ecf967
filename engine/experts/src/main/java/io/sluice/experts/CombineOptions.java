package io.sluice.experts;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of a low-latency combine. Immutable; the format is the same on all ranks.
 *
 * @param format how results travel
 * @param timeout the longest time from the call to its end, positive; {@code null} for that of the buffer
 */
public record CombineOptions(CombineFormat format, @Nullable Duration timeout) {
    private static final CombineOptions DEFAULTS = new CombineOptions(CombineFormat.BF16, null);

    /** Checks for null. */
    public CombineOptions {
        Objects.requireNonNull(format, "format");
        if (timeout != null && !timeout.isPositive()) {
            throw new IllegalArgumentException("a time-out is positive, not " + timeout);
        }
    }

    /**
     * Returns options for bfloat16 with the buffer's time-out.
     *
     * @return the defaults
     */
    public static CombineOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with a format.
     *
     * @param value the same on all ranks
     * @return new options
     */
    public CombineOptions withFormat(CombineFormat value) {
        return new CombineOptions(value, timeout);
    }

    /**
     * Returns these options with a time-out.
     *
     * @param time the longest time from the call to its end; with a hook, for each half
     * @return new options
     */
    public CombineOptions withTimeout(Duration time) {
        return new CombineOptions(format, Objects.requireNonNull(time, "time"));
    }
}
