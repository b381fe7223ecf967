package io.sluice.samples.kvcache;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The pages that an admitted request moves and those that it reuses. They belong to it until it is handed back to the cache
 * that made it, by {@link PrefixCache#release} or {@link PrefixCache#abandon}.
 */
public final class RequestPlan {
    enum State {
        RECEIVING,
        COMPLETE,
        ENDED
    }

    private final List<PlannedBlock> blocks;
    private final int wholePages;
    private final int pagesToMove;
    private final int layers;
    /** The cached blocks that those of the request have pinned, at their places. */
    final PrefixCache.@Nullable CachedBlock[] pinned;

    private State state = State.RECEIVING;

    RequestPlan(
            List<PlannedBlock> blocks,
            PrefixCache.@Nullable CachedBlock[] pinned,
            int wholePages,
            int pagesToMove,
            int layers) {
        this.blocks = blocks;
        this.pinned = pinned;
        this.wholePages = wholePages;
        this.pagesToMove = pagesToMove;
        this.layers = layers;
    }

    /** The blocks that have at least one whole page, in the order of the request. */
    public List<PlannedBlock> blocks() {
        return blocks;
    }

    /** Whole pages of the request in one layer. */
    public int wholePages() {
        return wholePages;
    }

    /** Pages that must be moved in each layer: a page id counts once. */
    public int pagesToMovePerLayer() {
        return pagesToMove;
    }

    /** Pages that must be moved, over all layers. With {@link #pagesReused()} it makes up whole pages × layers. */
    public long pagesMoved() {
        return (long) pagesToMove * layers;
    }

    /** Pages that need not be moved, over all layers. */
    public long pagesReused() {
        return (long) (wholePages - pagesToMove) * layers;
    }

    State state() {
        return state;
    }

    void state(State next) {
        state = next;
    }

    /**
     * One block of an admitted request: which pages of it are reused from the cache, which must be moved, and the page ids
     * of all of them. Pages are counted from the start of the block; the first {@link #reusedPages()} are reused, the rest
     * moved. Page counts are for each layer.
     *
     * @param index the block's number in its request, from 0
     * @param reusedPages pages at the start of the block that are in the cache already; also the first page that must be moved
     */
    public record PlannedBlock(int index, long hash, int reusedPages, int[] pageIds) {
        /** Whole pages of the block, at least 1. */
        public int pages() {
            return pageIds.length;
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
    }
}
