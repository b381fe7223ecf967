package io.sluice.engine.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

class PageTableTest {
    private static final int PAGE = 64;
    private static final int PAGES = 16;
    private static final long BASE = 4096;
    private static final int ROUNDS = Extent.of(50_000, 200_000);

    private final PageTable table = new PageTable(PAGE, BASE, PAGES * PAGE, PAGES * PAGE);
    private volatile boolean over;

    private void assertWithin() {
        assertThat(table.local(0)).isBetween(BASE, BASE + (PAGES - 1) * PAGE);
        assertThat(table.remote(0)).isBetween(0L, (PAGES - 1L) * PAGE);
    }

    /** Another thread changes the lists all the while. */
    private <L> void raceFill(L locals, L remotes, LongConsumer change, BiConsumer<L, L> fill) {
        Thread changing = Thread.ofPlatform().start(() -> {
            for (long i = 0; !over; i++) {
                change.accept((i & 1) == 0 ? 1 : 1_000_000_000);
            }
        });
        try {
            for (int i = 0; i < ROUNDS; i++) {
                try {
                    fill.accept(locals, remotes);
                } catch (IndexOutOfBoundsException refused) {
                    continue;
                }
                assertWithin();
            }
        } finally {
            over = true;
            Patience.join(changing);
        }
    }

    @Test
    void numbersThatChangeMeanwhileLeaveNoRegion() {
        int[] locals = {0};
        int[] remotes = {0};
        raceFill(
                locals,
                remotes,
                number -> {
                    locals[0] = (int) number;
                    remotes[0] = (int) number;
                },
                table::fill);
    }

    @Test
    void offsetsThatChangeMeanwhileLeaveNoRegion() {
        long[] locals = {0};
        long[] remotes = {0};
        raceFill(
                locals,
                remotes,
                offset -> {
                    locals[0] = offset;
                    remotes[0] = offset;
                },
                table::fill);
    }

    @Test
    void whatIsRefusedLeavesItAsItWas() {
        table.fill(new int[] {1, 2}, new int[] {3, 4});
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> table.fill(new int[] {5, PAGES}, new int[] {5, 5}))
                .withMessageContaining("page 1 of the list leaves the local region");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> table.fill(new long[] {5, 6}, new long[] {5, PAGES * PAGE - PAGE + 1}))
                .withMessageContaining("page 1 of the list leaves the remote region");
        assertThat(table.pages()).isEqualTo(2);
        assertThat(table.local(1)).isEqualTo(BASE + 2 * PAGE);
        assertThat(table.remote(1)).isEqualTo(4 * PAGE);
    }

    @Test
    void runsEndWhereTheRemoteSideJumpsOrThePiecesAreUsedUp() {
        // here two pieces of two pages and one of one; there one of four and one of one
        table.fill(new int[] {4, 5, 1, 2, 9}, new int[] {6, 7, 8, 9, 3});
        assertThat(table.run(0, 5)).isEqualTo(2);
        assertThat(table.run(0, 5, 1)).isEqualTo(2);
        assertThat(table.run(0, 5, 2)).isEqualTo(4);
        assertThat(table.run(0, 5, 9)).isEqualTo(4);
        assertThat(table.run(0, 3, 9)).isEqualTo(3);
        assertThat(table.run(1, 4, 1)).isEqualTo(1);
        assertThat(table.run(1, 4, 2)).isEqualTo(3);
        assertThat(table.run(4, 1, 2)).isEqualTo(1);
    }
}
