package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PageSealTest {

    private static final int PAGE_BYTES = 8192;

    @Test
    void dependsOnEveryByteAndOnWhichPageItIs() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(PAGE_BYTES);
            new PageFiller(1).fill(page, 7, 3, 2);
            int seal = PageSeal.of(page, 1, 7, 3, 2);
            assertThat(PageSeal.of(page, 1, 7, 3, 2)).isEqualTo(seal);
            assertThat(Set.of(
                            seal,
                            PageSeal.of(page, 2, 7, 3, 2),
                            PageSeal.of(page, 1, 8, 3, 2),
                            PageSeal.of(page, 1, 7, 4, 2),
                            PageSeal.of(page, 1, 7, 3, 3)))
                    .hasSize(5);
            for (int at : new int[] {0, 1, PAGE_BYTES / 2, PAGE_BYTES - 1}) {
                byte before = page.get(ValueLayout.JAVA_BYTE, at);
                page.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 1));
                assertThat(PageSeal.of(page, 1, 7, 3, 2)).as("byte %d", at).isNotEqualTo(seal);
                page.set(ValueLayout.JAVA_BYTE, at, before);
            }
        }
    }

    @Test
    void isStoredInNetworkByteOrder() {
        MemorySegment memory = MemorySegment.ofArray(new byte[9]);
        PageSeal.store(memory, 5, 0x01020304);
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsExactly(0, 0, 0, 0, 0, 1, 2, 3, 4);
        assertThat(PageSeal.load(memory, 5)).isEqualTo(0x01020304);
    }

    @Test
    void theTableHasOnePlaceForEachSlotOfThePool() {
        PageGeometry geometry = new PageGeometry(3, 4096, 5);
        assertThat(geometry.sealBytes()).isEqualTo(3 * 5 * PageSeal.BYTES);
        assertThat(geometry.sealOffset(0, 0)).isZero();
        assertThat(geometry.sealOffset(0, 4)).isEqualTo(4 * PageSeal.BYTES);
        assertThat(geometry.sealOffset(1, 0)).isEqualTo(5 * PageSeal.BYTES);
        assertThat(geometry.sealOffset(2, 4)).isEqualTo(geometry.sealBytes() - PageSeal.BYTES);
    }
}
