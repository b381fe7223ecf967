package io.sluice.samples.prefill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.control.PageAssignment;
import io.sluice.samples.kvcache.BlockHashes;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MovedPagesTest {

    private static final int TOKENS = 512 + 3 * 16 + 5;
    private static final BlockHashes HASHES = BlockHashes.of(70, 71);
    private static final int SLOTS = 1000;

    @Test
    void comeInTheOrderOfTheirPageIds() {
        MovedPages pages = of(new int[] {31, 1}, 9, 5, 6);
        assertThat(pages.count()).isEqualTo(3);
        assertThat(pages.reusedPages()).isEqualTo(32);
        assertThat(pages.pageId(0)).isEqualTo(5);
        assertThat(pages.blockHash(0)).isEqualTo(71);
        assertThat(pages.pageInBlock(0)).isEqualTo(1);
        assertThat(pages.pageId(1)).isEqualTo(6);
        assertThat(pages.pageInBlock(1)).isEqualTo(2);
        assertThat(pages.pageId(2)).isEqualTo(9);
        assertThat(pages.blockHash(2)).isEqualTo(70);
        assertThat(pages.pageInBlock(2)).isEqualTo(31);
    }

    @Test
    void nothingMayBeLeftToMove() {
        MovedPages pages = of(new int[] {32, 3});
        assertThat(pages.count()).isZero();
        assertThat(pages.reusedPages()).isEqualTo(35);
    }

    @Test
    void anAssignmentThatDoesNotFitIsRefused() {
        int[] all = IntStream.range(0, 35).toArray();
        assertThat(of(new int[] {0, 0}, all).count()).isEqualTo(35);
        assertRefused(new int[] {0}, IntStream.range(0, 32).toArray());
        assertRefused(new int[] {0, 0}, IntStream.range(0, 34).toArray());
        assertRefused(new int[] {0, 0}, IntStream.range(0, 36).toArray());
        assertRefused(new int[] {32, 4});
        assertRefused(new int[] {32, 3, 0});
        assertRefused(new int[] {31, 3}, SLOTS);
        assertRefused(new int[] {30, 3}, 4, 4);
    }

    private static MovedPages of(int[] reused, int... pageIds) {
        return MovedPages.of(TOKENS, HASHES, new PageAssignment(reused, pageIds), SLOTS);
    }

    private static void assertRefused(int[] reused, int... pageIds) {
        assertThatThrownBy(() -> of(reused, pageIds)).isInstanceOf(MalformedMessageException.class);
    }
}
