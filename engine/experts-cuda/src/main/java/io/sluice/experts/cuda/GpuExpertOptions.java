package io.sluice.experts.cuda;

import io.sluice.experts.ExpertOptions;
import java.util.Objects;

/**
 * Options of a {@link GpuExpertBuffer}, the same on all ranks. Immutable.
 *
 * @param experts how many experts there are, how large tokens are, which modes the buffer has, and how long a kernel waits for the other
 *     ranks; back end and helper threads do not count. At most {@value #MOST_EXPERTS} experts
 * @param blocks the most blocks that a kernel of the low-latency mode has, 1 to {@value #MOST_BLOCKS}. Few leave more of the GPU to others
 * @param normalBlocks the most blocks that a kernel of normal mode has, 1 to {@value #MOST_BLOCKS}
 */
public record GpuExpertOptions(ExpertOptions experts, int blocks, int normalBlocks) {
    /** The most experts of all ranks together. */
    public static final int MOST_EXPERTS = 4096;

    /** The most blocks of a kernel. */
    public static final int MOST_BLOCKS = 256;

    private static final int DEFAULT_BLOCKS = 128;
    private static final int DEFAULT_NORMAL_BLOCKS = 24;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if one is out of its range
     */
    public GpuExpertOptions {
        Objects.requireNonNull(experts, "experts");
        if (experts.experts() > MOST_EXPERTS) {
            throw new IllegalArgumentException(
                    "a buffer on GPUs has at most " + MOST_EXPERTS + " experts, not " + experts.experts());
        }
        checkBlocks(blocks);
        checkBlocks(normalBlocks);
    }

    private static void checkBlocks(int blocks) {
        if (blocks < 1 || blocks > MOST_BLOCKS) {
            throw new IllegalArgumentException("blocks are 1 to %d, not %d".formatted(MOST_BLOCKS, blocks));
        }
    }

    /**
     * Returns options for a number of experts, with all else as {@link ExpertOptions#experts} has it.
     *
     * @param count of all ranks together, a multiple of the number of ranks; 1 to {@value #MOST_EXPERTS}
     * @return new options, with 128 blocks, and 24 in normal mode
     */
    public static GpuExpertOptions experts(int count) {
        return of(ExpertOptions.experts(count));
    }

    /**
     * Returns options for buffers as on host memory.
     *
     * @param experts the options of such a buffer
     * @return new options, with 128 blocks, and 24 in normal mode
     */
    public static GpuExpertOptions of(ExpertOptions experts) {
        return new GpuExpertOptions(experts, DEFAULT_BLOCKS, DEFAULT_NORMAL_BLOCKS);
    }

    /**
     * Returns these options with another number of blocks in low-latency mode.
     *
     * @param most as {@link #blocks()}
     * @return new options
     */
    public GpuExpertOptions withBlocks(int most) {
        return new GpuExpertOptions(experts, most, normalBlocks);
    }

    /**
     * Returns these options with another number of blocks in normal mode.
     *
     * @param most as {@link #normalBlocks()}
     * @return new options
     */
    public GpuExpertOptions withNormalBlocks(int most) {
        return new GpuExpertOptions(experts, blocks, most);
    }
}
