package io.sluice.samples.kvcache;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Page content that follows from its seed, block hash, page and layer alone, so that the receiver of a page can tell
 * without asking what must be in it. Equal on all hosts: the content does not depend on byte order. It is made for
 * noticing misplaced, stale and damaged pages, not as a source of randomness. Immutable; any thread may use it.
 *
 * @param seed the same in both processes of a replay
 */
public record PageFiller(long seed) {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** An odd multiplier whose bits are well spread, from the rrmxmx mixer. */
    private static final long MULTIPLIER = 0x9FB21C651E98DF25L;

    /**
     * Overwrites a page with its content.
     *
     * @param page the memory of the page, less than 2 GiB, at any alignment
     * @param pageInBlock the page's number in its block, from 0
     * @param layer the page's layer, from 0
     */
    public void fill(MemorySegment page, long blockHash, int pageInBlock, int layer) {
        long base = base(blockHash, pageInBlock, layer);
        int bytes = Math.toIntExact(page.byteSize());
        int words = bytes / Long.BYTES;
        // No word depends on another and there is one multiplication for each: this the compiler vectorises.
        for (int i = 0; i < words; i++) {
            page.set(WORD, (long) i * Long.BYTES, word(base, i));
        }
        long tail = word(base, words);
        for (int i = words * Long.BYTES; i < bytes; i++, tail >>>= Byte.SIZE) {
            page.set(ValueLayout.JAVA_BYTE, i, (byte) tail);
        }
    }

    private static long word(long base, int index) {
        long product = (base + index) * MULTIPLIER;
        return product ^ (product >>> 32);
    }

    /** Two pages that differ in anything get unrelated bases, so that one is no shifted copy of the other. */
    private long base(long blockHash, int pageInBlock, int layer) {
        return mix(mix(mix(seed) + blockHash) + ((long) layer << 32 | pageInBlock));
    }

    /** The finaliser of SplitMix64: a bijection in which every input bit affects every output bit. */
    static long mix(long value) {
        long mixed = value + 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
