package io.sluice.samples.kvcache;

import java.util.Arrays;

/** A block whose first pages are visible, verified and offered for reuse. It owns these pages until it is evicted. */
final class CachedBlock {

    private static final int[] NONE = {};

    private final long hash;
    private int[] pageIds = NONE;
    private int pages;
    private int pins;

    /** The admission that looked at this block last, by which a hash that occurs twice in a request is noticed. */
    private long lastAdmission;

    CachedBlock(long hash) {
        this.hash = hash;
    }

    long hash() {
        return hash;
    }

    int pages() {
        return pages;
    }

    int pageId(int page) {
        if (page >= pages) {
            throw new IndexOutOfBoundsException("page " + page + " of a cached block of " + pages);
        }
        return pageIds[page];
    }

    void append(int pageId) {
        if (pages == pageIds.length) {
            pageIds = Arrays.copyOf(pageIds, Math.max(4, Math.min(TokenLayout.BLOCK_PAGES, pages * 2)));
        }
        pageIds[pages++] = pageId;
    }

    int removeLast() {
        return pageIds[--pages];
    }

    boolean pinned() {
        return pins > 0;
    }

    void pin() {
        pins++;
    }

    void unpin() {
        if (pins == 0) {
            throw new IllegalStateException("block " + hash + " is not pinned");
        }
        pins--;
    }

    /** Marks the block as looked at by an admission; false if that admission has done so before. */
    boolean markSeenBy(long admission) {
        boolean first = lastAdmission != admission;
        lastAdmission = admission;
        return first;
    }
}
