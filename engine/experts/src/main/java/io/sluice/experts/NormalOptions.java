package io.sluice.experts;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of a dispatch in normal mode. Immutable; all but the time-out and the alignment are the same on all ranks.
 *
 * @param format how tokens travel
 * @param timeout the longest time from the call to its end, positive; {@code null} for that of the buffer
 * @param expertAlignment the number of tokens of each local expert is rounded up to a multiple of it; at least 1
 * @param worstTokens how many rows the result has, however many arrive, so that no rank waits for the counts of others; 0 for as
 *     many as arrive
 */
public record NormalOptions(DispatchFormat format, @Nullable Duration timeout, int expertAlignment, int worstTokens) {
    private static final NormalOptions DEFAULTS = new NormalOptions(DispatchFormat.BF16, null, 1, 0);

    /** Checks for null, and the ranges. */
    public NormalOptions {
        Objects.requireNonNull(format, "format");
        if (timeout != null && !timeout.isPositive()) {
            throw new IllegalArgumentException("a time-out is positive, not " + timeout);
        }
        if (expertAlignment < 1) {
            throw new IllegalArgumentException("an alignment is at least 1, not " + expertAlignment);
        }
        if (worstTokens < 0) {
            throw new IllegalArgumentException("a number of tokens is 0 or more, not " + worstTokens);
        }
    }

    /**
     * Returns options for bfloat16, exact counts and the buffer's time-out.
     *
     * @return the defaults
     */
    public static NormalOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with a format.
     *
     * @param value the same on all ranks
     * @return new options
     */
    public NormalOptions withFormat(DispatchFormat value) {
        return new NormalOptions(value, timeout, expertAlignment, worstTokens);
    }

    /**
     * Returns these options with a time-out.
     *
     * @param time the longest time from the call to its end
     * @return new options
     */
    public NormalOptions withTimeout(Duration time) {
        return new NormalOptions(format, Objects.requireNonNull(time, "time"), expertAlignment, worstTokens);
    }

    /**
     * Returns these options with an alignment of the experts' counts.
     *
     * @param value 1 or more
     * @return new options
     */
    public NormalOptions withExpertAlignment(int value) {
        return new NormalOptions(format, timeout, value, worstTokens);
    }

    /**
     * Returns these options with a number of rows that is known before any rank has counted.
     *
     * @param rows at least as many as will arrive, at most ranks × most tokens of a rank; 0 for as many as arrive
     * @return new options
     */
    public NormalOptions withWorstTokens(int rows) {
        return new NormalOptions(format, timeout, expertAlignment, rows);
    }
}
