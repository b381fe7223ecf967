package io.sluice.engine.transport;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Native memory for the tables of page lists that run once, used again and again: that of a few tables, each of a bounded
 * length. Without locks; for any thread.
 */
public final class PageTablePool {
    private static final int TABLES = 8;
    private static final int FEWEST_PAGES = 64;
    private static final int MOST_PAGES = 8 * PageTable.MOST_PAGES;

    private final AtomicReferenceArray<@Nullable PageColumns> free = new AtomicReferenceArray<>(TABLES);

    /** An empty one. */
    public PageTablePool() {}

    /** Memory for so many pages or more, which nothing else uses. */
    PageColumns take(int pages) {
        if (pages > MOST_PAGES) {
            return PageColumns.of(pages);
        }
        for (int i = 0; i < TABLES; i++) {
            PageColumns found = free.get(i) == null ? null : free.getAndSet(i, null);
            if (found != null && found.hold(pages)) {
                return found;
            }
            // one that is too short goes, and a longer one comes back
        }
        return PageColumns.of(Math.max(FEWEST_PAGES, Integer.highestOneBit(2 * pages - 1)));
    }

    /** Takes memory back that nothing reads any more. */
    void give(PageColumns columns) {
        if (columns.hold(MOST_PAGES + 1)) {
            return;
        }
        for (int i = 0; i < TABLES; i++) {
            if (free.get(i) == null && free.compareAndSet(i, null, columns)) {
                return;
            }
        }
    }
}
