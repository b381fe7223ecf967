package io.sluice.experts;

import io.sluice.engine.MemoryRegion;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of a low-latency dispatch. Immutable; the format is the same on all ranks.
 *
 * @param format how tokens travel
 * @param timeout the longest time from the call to its end, positive; {@code null} for that of the buffer
 * @param statistics where the tokens received by each local expert are added, an int32 for each; {@code null} for
 *     nowhere
 * @param statisticsOffset where they begin, in bytes
 */
public record DispatchOptions(
        DispatchFormat format,
        @Nullable Duration timeout,
        @Nullable MemoryRegion statistics,
        long statisticsOffset) {
    private static final DispatchOptions DEFAULTS = new DispatchOptions(DispatchFormat.BF16, null, null, 0);

    /** Checks for null. */
    public DispatchOptions {
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
    public static DispatchOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with a format.
     *
     * @param value the same on all ranks
     * @return new options
     */
    public DispatchOptions withFormat(DispatchFormat value) {
        return new DispatchOptions(value, timeout, statistics, statisticsOffset);
    }

    /**
     * Returns these options with a time-out.
     *
     * @param time the longest time from the call to its end; with a hook, for each half
     * @return new options
     */
    public DispatchOptions withTimeout(Duration time) {
        return new DispatchOptions(format, Objects.requireNonNull(time, "time"), statistics, statisticsOffset);
    }

    /**
     * Returns these options with a place where received tokens are counted.
     *
     * @param region host memory of the team's engine
     * @param offset bytes from the region's start, a multiple of 4; an int32 for each local expert, to which the tokens
     *     of each dispatch are added
     * @return new options
     */
    public DispatchOptions withStatistics(MemoryRegion region, long offset) {
        return new DispatchOptions(format, timeout, Objects.requireNonNull(region, "region"), offset);
    }
}
