package io.sluice.engine.transport;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A pool of native memory for the tables of page lists that run once: a few tables of bounded length. Lock-free and
 * thread-safe.
 */
public final class PageTablePool {
    private static final int TABLES = 8;
    private static final int FEWEST_PAGES = 64;
    private static final int MOST_PAGES = 8 * PageTable.MOST_PAGES;

    private final AtomicReferenceArray<@Nullable PageColumns> free = new AtomicReferenceArray<>(TABLES);

    /** Creates an empty pool. */
    public PageTablePool() {}

    /** Takes memory for at least so many pages. */
    PageColumns take(int pages) {
        if (pages > MOST_PAGES) {
            return PageColumns.of(pages);
        }
        for (int i = 0; i < TABLES; i++) {
            PageColumns found = free.get(i) == null ? null : free.getAndSet(i, null);
            if (found != null && found.hold(pages)) {
                return found;
            }
            // a table that is too short is dropped, and a longer one is returned later
        }
        return PageColumns.of(Math.max(FEWEST_PAGES, Integer.highestOneBit(2 * pages - 1)));
    }

    /** Returns memory that nothing reads any more. */
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
