package io.sluice.samples.kvcache;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A seal, sent with a page, by which its receiver verifies it: the page's CRC-32C, combined with which page of which
 * request it is. Without the latter, what an earlier request has left in a slot, page and checksum both, would pass for
 * a page that never arrived.
 */
public final class PageSeal {
    /** Bytes that a seal takes. */
    public static final int BYTES = Integer.BYTES;

    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private PageSeal() {}

    /**
     * The seal of a page.
     *
     * @param page off-heap memory or a byte array's, less than 2 GiB
     * @param pageInBlock the page's number in its block, from 0
     * @param layer the page's layer, from 0
     */
    public static int of(MemorySegment page, long requestId, long blockHash, int pageInBlock, int layer) {
        long identity = PageFiller.mix(
                PageFiller.mix(PageFiller.mix(requestId) + blockHash) + ((long) layer << Integer.SIZE | pageInBlock));
        return checksum(page) ^ (int) identity;
    }

    public static void store(MemorySegment memory, long offset, int seal) {
        memory.set(WORD, offset, seal);
    }

    public static int load(MemorySegment memory, long offset) {
        return memory.get(WORD, offset);
    }

    /**
     * The CRC-32C of a page.
     *
     * @param page off-heap memory or a byte array's, less than 2 GiB
     */
    static int checksum(MemorySegment page) {
        CRC32C crc = new CRC32C();
        crc.update(page.asByteBuffer());
        return (int) crc.getValue();
    }
}
