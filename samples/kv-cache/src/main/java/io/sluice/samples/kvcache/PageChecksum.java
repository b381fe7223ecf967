package io.sluice.samples.kvcache;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/** The checksum by which a page is verified after its transfer. */
public final class PageChecksum {

    private PageChecksum() {}

    /**
     * The CRC-32C of a page.
     *
     * @param page off-heap memory or a byte array's, less than 2 GiB
     */
    public static int of(MemorySegment page) {
        CRC32C crc = new CRC32C();
        crc.update(page.asByteBuffer());
        return (int) crc.getValue();
    }
}
