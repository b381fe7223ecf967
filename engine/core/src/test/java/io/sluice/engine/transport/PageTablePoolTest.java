package io.sluice.engine.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Extent;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PageTablePoolTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = Extent.of(30_000, 100_000);

    private final PageTablePool pool = new PageTablePool();

    @Test
    void whatIsGivenBackIsTakenAgain() {
        PageColumns columns = pool.take(100);
        pool.give(columns);
        assertThat(pool.take(128)).isSameAs(columns);
        assertThat(pool.take(1)).isNotSameAs(columns);
    }

    @Test
    void longerListsReplaceTheMemoryOfShorterOnes() {
        for (int i = 0; i < 100; i++) {
            pool.give(PageColumns.of(64));
        }
        PageColumns columns = pool.take(1000);
        assertThat(columns.hold(1000)).isTrue();
        pool.give(columns);
        assertThat(pool.take(1000)).isSameAs(columns);
    }

    @Test
    void veryLongListsKeepNoMemory() {
        int pages = 9 * PageTable.MOST_PAGES;
        PageColumns columns = pool.take(pages);
        assertThat(columns.hold(pages)).isTrue();
        pool.give(columns);
        assertThat(pool.take(pages)).isNotSameAs(columns);
    }

    @Test
    void memoryIsOfOneTableAtATime() {
        AtomicInteger shared = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            long mine = i;
            threads.add(Thread.ofPlatform().start(() -> {
                for (int round = 0; round < ROUNDS; round++) {
                    PageColumns columns = pool.take(1 + round % 200);
                    columns.wire().setAtIndex(ValueLayout.JAVA_LONG, 0, mine);
                    Thread.onSpinWait();
                    if (columns.wire().getAtIndex(ValueLayout.JAVA_LONG, 0) != mine) {
                        shared.incrementAndGet();
                    }
                    pool.give(columns);
                }
            }));
        }
        threads.forEach(Patience::join);
        assertThat(shared).hasValue(0);
    }
}
