package io.sluice.collectives.cuda;

import java.time.Duration;
import java.util.Objects;

/**
 * Options of a {@link GpuTeam}, the same on all ranks. Immutable.
 *
 * @param exchangeBytes up to how many bytes a rank sends to all others together by messages with flags, which take twice the bytes and
 *     half the latency: 8 bytes to 16 MiB. The team's memory has room for two messages of this length from each rank
 * @param pushBytes up to how many bytes a rank sends to all others together when it pushes the vectors of an all-reduce or a
 *     reduce-scatter into the team's memory, from 768 KiB or {@code exchangeBytes} on, whichever is less; 0 to 64 MiB, where 0 is never.
 *     Source, target and blocks must lie at multiples of 16 bytes in their regions. The team's memory on each GPU has room for twice
 *     what all ranks push into it
 * @param blocks the most blocks, of 512 threads, that a kernel has, 1 to 256. Few leave more of the GPU to others. Kernels that
 *     exchange messages use all of them from 1 MiB on; others have at most 128, which take all the bandwidth of NVLink
 * @param timeout how long a kernel waits for the other ranks before the team ends with an error, positive
 */
public record GpuTeamOptions(long exchangeBytes, long pushBytes, int blocks, Duration timeout) {
    private static final long MOST_EXCHANGE_BYTES = 16L << 20;
    private static final long MOST_PUSH_BYTES = 64L << 20;
    private static final int UNIT = 8;
    private static final GpuTeamOptions DEFAULTS =
            new GpuTeamOptions(1L << 20, 4L << 20, TeamLayout.MOST_BLOCKS, Duration.ofSeconds(30));

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if one is out of its range
     */
    public GpuTeamOptions {
        Objects.requireNonNull(timeout, "timeout");
        if (exchangeBytes < UNIT || exchangeBytes > MOST_EXCHANGE_BYTES) {
            throw new IllegalArgumentException(
                    "exchangeBytes is %d to %d, not %d".formatted(UNIT, MOST_EXCHANGE_BYTES, exchangeBytes));
        }
        if (pushBytes < 0 || pushBytes > MOST_PUSH_BYTES) {
            throw new IllegalArgumentException("pushBytes are 0 to %d, not %d".formatted(MOST_PUSH_BYTES, pushBytes));
        }
        if (blocks < 1 || blocks > TeamLayout.MOST_BLOCKS) {
            throw new IllegalArgumentException("blocks are 1 to %d, not %d".formatted(TeamLayout.MOST_BLOCKS, blocks));
        }
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE / 2)) > 0) {
            throw new IllegalArgumentException("timeout is positive and at most 146 years, not " + timeout);
        }
    }

    /**
     * Returns the defaults.
     *
     * @return messages up to 1 MiB, pushes up to 4 MiB, 256 blocks, 30 s
     */
    public static GpuTeamOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with another limit of messages.
     *
     * @param bytes as {@link #exchangeBytes()}
     * @return new options
     */
    public GpuTeamOptions withExchangeBytes(long bytes) {
        return new GpuTeamOptions(bytes, pushBytes, blocks, timeout);
    }

    /**
     * Returns these options with another limit of pushes.
     *
     * @param bytes as {@link #pushBytes()}
     * @return new options
     */
    public GpuTeamOptions withPushBytes(long bytes) {
        return new GpuTeamOptions(exchangeBytes, bytes, blocks, timeout);
    }

    /**
     * Returns these options with another number of blocks.
     *
     * @param most as {@link #blocks()}
     * @return new options
     */
    public GpuTeamOptions withBlocks(int most) {
        return new GpuTeamOptions(exchangeBytes, pushBytes, most, timeout);
    }

    /**
     * Returns these options with another time-out.
     *
     * @param time as {@link #timeout()}
     * @return new options
     */
    public GpuTeamOptions withTimeout(Duration time) {
        return new GpuTeamOptions(exchangeBytes, pushBytes, blocks, time);
    }
}
