package io.sluice.samples.kvcache;

import java.util.BitSet;
import java.util.Objects;

/**
 * Hands out page ids, each of which covers one page slot in every layer. All operations take constant time. Confined to
 * one thread at a time: it does no locking.
 */
public final class PagePool {
    private final int[] free;
    private final BitSet allocated;
    private int freeCount;

    /**
     * A pool of free pages.
     *
     * @param slots number of page ids, 0 to {@code slots - 1}
     */
    public PagePool(int slots) {
        if (slots < 1) {
            throw new IllegalArgumentException("a page pool needs at least one slot: " + slots);
        }
        free = new int[slots];
        allocated = new BitSet(slots);
        freeCount = slots;
        // The stack is filled from the top, so that a fresh pool hands out ascending ids: neighbours in memory.
        for (int i = 0; i < slots; i++) {
            free[i] = slots - 1 - i;
        }
    }

    /** Number of page ids, free or not. */
    public int slots() {
        return free.length;
    }

    /** Number of page ids that {@link #allocate} can still hand out. */
    public int freePages() {
        return freeCount;
    }

    /**
     * Takes a page id out of the pool.
     *
     * @throws IllegalStateException if none is free
     */
    public int allocate() {
        if (freeCount == 0) {
            throw new IllegalStateException("no free page: all " + slots() + " are in use");
        }
        int pageId = free[--freeCount];
        allocated.set(pageId);
        return pageId;
    }

    /**
     * Puts a page id back. Nothing may write into its slots any more.
     *
     * @throws IllegalStateException if the page is free already
     */
    public void free(int pageId) {
        Objects.checkIndex(pageId, slots());
        if (!allocated.get(pageId)) {
            throw new IllegalStateException("page " + pageId + " is free already");
        }
        allocated.clear(pageId);
        free[freeCount++] = pageId;
    }
}
