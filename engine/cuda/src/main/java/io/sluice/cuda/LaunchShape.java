package io.sluice.cuda;

/**
 * How many threads a launch has. The driver refuses a shape that the GPU does not support when the launch is submitted.
 *
 * @param gridX blocks in x, 1 to 2,147,483,647
 * @param gridY blocks in y, 1 to 65,535
 * @param gridZ blocks in z, 1 to 65,535
 * @param blockX threads of a block in x, 1 to 1,024
 * @param blockY threads of a block in y, 1 to 1,024
 * @param blockZ threads of a block in z, 1 to 64
 * @param sharedBytes dynamic shared memory of a block in bytes, 0 or more; above 48 KiB if the GPU has so much
 */
public record LaunchShape(int gridX, int gridY, int gridZ, int blockX, int blockY, int blockZ, int sharedBytes) {
    private static final int MOST_BLOCKS = 65_535;
    private static final int MOST_THREADS = 1024;
    private static final int MOST_THREADS_Z = 64;

    /**
     * Checks the extents.
     *
     * @throws IllegalArgumentException if one is out of its range
     */
    public LaunchShape {
        check("gridX", gridX, 1, Integer.MAX_VALUE);
        check("gridY", gridY, 1, MOST_BLOCKS);
        check("gridZ", gridZ, 1, MOST_BLOCKS);
        check("blockX", blockX, 1, MOST_THREADS);
        check("blockY", blockY, 1, MOST_THREADS);
        check("blockZ", blockZ, 1, MOST_THREADS_Z);
        check("sharedBytes", sharedBytes, 0, Integer.MAX_VALUE);
    }

    private static void check(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException("%s is %d to %d, not %d".formatted(name, least, most, value));
        }
    }

    /**
     * A shape of one dimension.
     *
     * @param blocks how many blocks, 1 or more
     * @param threads how many threads each has, 1 to 1,024
     * @return the shape
     */
    public static LaunchShape of(int blocks, int threads) {
        return new LaunchShape(blocks, 1, 1, threads, 1, 1, 0);
    }

    /**
     * The same with dynamic shared memory.
     *
     * @param bytes of a block, 0 or more
     * @return the shape
     */
    public LaunchShape withSharedBytes(int bytes) {
        return new LaunchShape(gridX, gridY, gridZ, blockX, blockY, blockZ, bytes);
    }
}
