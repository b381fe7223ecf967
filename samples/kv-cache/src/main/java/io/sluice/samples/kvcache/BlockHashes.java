package io.sluice.samples.kvcache;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.Objects;

/**
 * The block hashes of one request, first block first; immutable. A block hash names the content of a block together
 * with everything before it, so equal hashes mean equal prefixes.
 */
public final class BlockHashes {
    private final long[] hashes;

    private BlockHashes(long[] hashes) {
        this.hashes = hashes;
    }

    /** The given hashes, which are copied. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static BlockHashes of(long... hashes) {
        return new BlockHashes(hashes.clone());
    }

    /** The first {@code count} of the given hashes, which are copied. */
    public static BlockHashes firstOf(long[] hashes, int count) {
        Objects.checkFromIndexSize(0, count, hashes.length);
        return new BlockHashes(Arrays.copyOf(hashes, count));
    }

    /** A copy of all of them. */
    @JsonValue
    public long[] toArray() {
        return hashes.clone();
    }

    public int size() {
        return hashes.length;
    }

    /** The hash of a block, counted from 0. */
    public long get(int block) {
        return hashes[block];
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof BlockHashes that && Arrays.equals(hashes, that.hashes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(hashes);
    }

    @Override
    public String toString() {
        return Arrays.toString(hashes);
    }
}
