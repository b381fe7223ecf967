package io.sluice.samples.kvcache;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One block of an admitted request: which pages of it are reused from the cache, which must be moved, and the page ids
 * of all of them. Pages are counted from the start of the block; the first {@link #reusedPages()} are reused, the rest
 * moved. Page counts are for each layer.
 */
public final class PlannedBlock {

    private final int index;
    private final long hash;
    private final int reusedPages;
    private final int[] pageIds;

    /** The cached block that this one has pinned. */
    private @Nullable CachedBlock pinned;

    PlannedBlock(int index, long hash, int reusedPages, int[] pageIds, @Nullable CachedBlock pinned) {
        this.index = index;
        this.hash = hash;
        this.reusedPages = reusedPages;
        this.pageIds = pageIds;
        this.pinned = pinned;
    }

    /** The block's number in its request, from 0. */
    public int index() {
        return index;
    }

    /** The block's hash. */
    public long hash() {
        return hash;
    }

    /** Whole pages of the block, at least 1. */
    public int pages() {
        return pageIds.length;
    }

    /** Pages at the start of the block that are in the cache already; also the first page that must be moved. */
    public int reusedPages() {
        return reusedPages;
    }

    /** Pages that must be moved: {@code reusedPages()} to {@code pages() - 1}. */
    public int movedPages() {
        return pages() - reusedPages;
    }

    /**
     * The page id of a page of the block. Until the request is completed it says where a moved page must be written;
     * after that, where the request reads it, which may be another request's equal copy.
     *
     * @param page from 0 to {@code pages() - 1}
     */
    public int pageId(int page) {
        Objects.checkIndex(page, pageIds.length);
        return pageIds[page];
    }

    void pageId(int page, int pageId) {
        pageIds[page] = pageId;
    }

    @Nullable
    CachedBlock pinned() {
        return pinned;
    }

    void pinned(@Nullable CachedBlock block) {
        pinned = block;
    }
}
