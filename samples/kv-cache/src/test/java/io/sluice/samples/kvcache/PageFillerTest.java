package io.sluice.samples.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PageFillerTest {

    private final PageFiller filler = new PageFiller(42);

    private static byte[] content(PageFiller filler, int bytes, long hash, int page, int layer) {
        byte[] content = new byte[bytes];
        filler.fill(MemorySegment.ofArray(content), hash, page, layer);
        return content;
    }

    @Test
    void contentFollowsFromWhatNamesThePage() {
        assertThat(content(filler, 8192, 5, 6, 7)).isEqualTo(content(new PageFiller(42), 8192, 5, 6, 7));
    }

    @Test
    void contentIsTheSameInEveryVersionAndOnEveryHost() {
        // Both processes of a replay must agree on it, whichever release they come from.
        assertThat(PageSeal.checksum(MemorySegment.ofArray(content(filler, 8192, 5, 6, 7))))
                .isEqualTo(0xDD2804F8);
    }

    @Test
    void offHeapAndUnalignedMemoryGetTheSameContent() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(8192 + 3).asSlice(3);
            filler.fill(page, 5, 6, 7);
            assertThat(page.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content(filler, 8192, 5, 6, 7));
        }
    }

    @Test
    void anyDifferenceInTheNameChangesNearlyEveryWord() {
        byte[] page = content(filler, 8192, 5, 6, 7);
        byte[][] others = {
            content(new PageFiller(43), 8192, 5, 6, 7),
            content(filler, 8192, 6, 6, 7),
            content(filler, 8192, 5, 7, 7),
            content(filler, 8192, 5, 6, 8),
            content(filler, 8192, 5, 7, 6),
            content(filler, 8192, 6, 5, 7),
        };
        for (byte[] other : others) {
            int equal = 0;
            for (int i = 0; i < page.length; i += 8) {
                equal += Arrays.equals(page, i, i + 8, other, i, i + 8) ? 1 : 0;
            }
            assertThat(equal).isZero();
        }
    }

    @Test
    void checksumsOfAllPagesOfABlockDiffer() {
        Set<Integer> checksums = new HashSet<>();
        for (int layer = 0; layer < 61; layer++) {
            for (int page = 0; page < 32; page++) {
                checksums.add(PageSeal.checksum(MemorySegment.ofArray(content(filler, 256, 1, page, layer))));
            }
        }
        assertThat(checksums).hasSize(61 * 32);
    }

    @Test
    void wordsOfAPageDiffer() {
        byte[] page = content(filler, 65_536, 0, 0, 0);
        Set<Long> words = new HashSet<>();
        MemorySegment segment = MemorySegment.ofArray(page);
        for (int i = 0; i < page.length; i += 8) {
            words.add(segment.get(ValueLayout.JAVA_LONG_UNALIGNED, i));
        }
        assertThat(words).hasSize(65_536 / 8);
    }

    @Test
    void sizesNeedNotBeWholeWords() {
        byte[] full = content(filler, 32, 1, 2, 3);
        for (int bytes = 0; bytes < 32; bytes++) {
            assertThat(content(filler, bytes, 1, 2, 3)).isEqualTo(Arrays.copyOf(full, bytes));
        }
    }

    @Test
    void writesNothingOutsideThePage() {
        byte[] memory = new byte[64];
        filler.fill(MemorySegment.ofArray(memory).asSlice(16, 29), 1, 2, 3);
        for (int i = 0; i < 16; i++) {
            assertThat(memory[i]).isZero();
        }
        for (int i = 45; i < 64; i++) {
            assertThat(memory[i]).isZero();
        }
    }
}
