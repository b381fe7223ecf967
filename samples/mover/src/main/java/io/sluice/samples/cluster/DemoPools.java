package io.sluice.samples.cluster;

import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.mover.pool.PoolLayout;

/**
 * The pools of a demonstration.
 *
 * @param decodeBlocks how many the decode mover has room for: fewer, so that each has gone by the time it is wanted again
 */
public record DemoPools(ModelPreset model, int prefillBlocks, int decodeBlocks, int blocksOfMove) {
    private static final long WANTED_BYTES = 192L << 20;
    private static final int FEWEST = 16;
    private static final int MOST = 256;
    private static final int MOVES_IN_POOL = 4;

    /** As many blocks as go into some 200 MiB, but enough for a few moves. */
    public static DemoPools of(ModelPreset model) {
        int blocks = Math.clamp(WANTED_BYTES / PoolLayout.of(model, 1).blockBytes(), FEWEST, MOST);
        int room = blocks / 2;
        return new DemoPools(model, blocks, room, room / MOVES_IN_POOL);
    }

    /** Bytes of the pool of each prefill mover. */
    public long prefillBytes() {
        return bytes(prefillBlocks);
    }

    /** Bytes of the pool of the decode mover. */
    public long decodeBytes() {
        return bytes(decodeBlocks);
    }

    private long bytes(int blocks) {
        return PoolLayout.of(model, 1).blockBytes() * blocks;
    }
}
