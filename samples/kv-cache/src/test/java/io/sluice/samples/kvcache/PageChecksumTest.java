package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PageChecksumTest {

    @Test
    void isCrc32c() {
        byte[] check = "123456789".getBytes(StandardCharsets.US_ASCII);
        assertThat(PageSeal.checksum(MemorySegment.ofArray(check))).isEqualTo(0xE3069283);
        assertThat(PageSeal.checksum(MemorySegment.ofArray(new byte[32]))).isEqualTo(0x8A9136AA);
        assertThat(PageSeal.checksum(MemorySegment.ofArray(new byte[0]))).isZero();
    }

    @Test
    void noticesASingleBitInOffHeapMemory() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(8192);
            new PageFiller(1).fill(page, 1, 2, 3);
            int before = PageSeal.checksum(page);
            for (long offset : new long[] {0, 1, 4095, 8191}) {
                byte value = page.get(ValueLayout.JAVA_BYTE, offset);
                page.set(ValueLayout.JAVA_BYTE, offset, (byte) (value ^ 0x10));
                assertThat(PageSeal.checksum(page)).isNotEqualTo(before);
                page.set(ValueLayout.JAVA_BYTE, offset, value);
            }
            assertThat(PageSeal.checksum(page)).isEqualTo(before);
        }
    }
}
