package io.sluice.samples.kvcache;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The decode process's cache of blocks by hash, over a {@link PagePool}. A request is admitted, its missing pages are
 * moved, then it is {@linkplain #complete completed} once they are visible and verified, and {@linkplain #release
 * released} when nothing reads them any more; or it is {@linkplain #abandon abandoned}.
 *
 * <ul>
 *   <li>A hash names content including all that precedes it, so a block is reused on its own, whether or not the blocks
 *       before it are still cached.
 *   <li>A cached block may have fewer pages than a later request needs of the same hash: what it has is reused, the
 *       rest is moved, and completing the request extends the cached block.
 *   <li>Pages that a request is receiving are its own and not offered. A second request with the same hash moves
 *       its own copy. The first to complete puts its pages into the cache; the second then reads those, and its own
 *       copy is freed at once.
 *   <li>A cached block is pinned while a request uses it. Of those not pinned the least recently released is evicted
 *       first; within one request the last block goes first, since it is the one least likely to be shared.
 * </ul>
 *
 * <p>A request is told to wait only if another one holds pages, so it is enough to ask again whenever a request ends.
 * Time is proportional to the number of pages asked for or given back. Confined to one thread at a time: it does no
 * locking.
 */
public final class PrefixCache {
    private final PageGeometry geometry;
    private final PagePool pool;
    private final Map<Long, CachedBlock> blocks = new HashMap<>();

    /** The blocks that are not pinned, least recently released first. */
    private final LinkedHashMap<Long, CachedBlock> idle = new LinkedHashMap<>();

    private int idlePages;
    private int activeRequests;
    private long admissions;
    private long evictedBlocks;

    /** An empty cache over a pool of its own. */
    public PrefixCache(PageGeometry geometry) {
        this(geometry, new PagePool(geometry.slots()));
    }

    PrefixCache(PageGeometry geometry, PagePool pool) {
        this.geometry = geometry;
        this.pool = pool;
    }

    /**
     * Decides what a request reuses and takes pages for the rest, evicting cached blocks if it has to.
     *
     * @param hashes one hash for each of its blocks, the partial last one included
     * @throws PoolTooSmallException if the request has more pages than the whole pool
     */
    public Admission admit(int inputTokens, BlockHashes hashes) {
        if (hashes.size() != TokenLayout.blocks(inputTokens)) {
            throw new IllegalArgumentException(inputTokens + " tokens are " + TokenLayout.blocks(inputTokens)
                    + " blocks, but there are " + hashes.size() + " hashes");
        }
        int wholePages = TokenLayout.wholePages(inputTokens);
        if (wholePages > pool.slots()) {
            throw new PoolTooSmallException(
                    "a request of " + inputTokens + " tokens",
                    Math.multiplyExact(geometry.slotBytes(), wholePages),
                    geometry.poolBytes());
        }
        Lookup lookup = lookUp(inputTokens, hashes);
        int needed = wholePages - lookup.reusedPages;
        int available = pool.freePages() + idlePages - lookup.idlePagesKept;
        if (needed > available) {
            return new Admission.Busy(needed, available);
        }
        return new Admission.Admitted(plan(inputTokens, hashes, lookup, needed));
    }

    /**
     * Takes note that all pages the request had to move are visible and verified, and offers them to later requests.
     */
    public void complete(RequestPlan plan) {
        expect(plan, RequestPlan.State.RECEIVING);
        for (RequestPlan.PlannedBlock block : plan.blocks()) {
            CachedBlock cached = pinForPublishing(plan, block);
            for (int page = block.reusedPages(); page < block.pages(); page++) {
                if (page < cached.pages()) {
                    // Another request has published this page meanwhile; one copy is enough.
                    pool.free(block.pageId(page));
                    block.pageId(page, cached.pageId(page));
                } else {
                    cached.append(block.pageId(page));
                }
            }
        }
        plan.state(RequestPlan.State.COMPLETE);
    }

    /** Ends a completed request: nothing reads its pages on its behalf any more. They stay cached until evicted. */
    public void release(RequestPlan plan) {
        expect(plan, RequestPlan.State.COMPLETE);
        end(plan);
    }

    /**
     * Ends a request whose pages did not all arrive or did not verify. Pages it was receiving are freed, so nothing may
     * be able to write into them any more: a transfer that has failed may still touch memory until it is quiescent.
     */
    public void abandon(RequestPlan plan) {
        expect(plan, RequestPlan.State.RECEIVING);
        for (RequestPlan.PlannedBlock block : plan.blocks()) {
            for (int page = block.reusedPages(); page < block.pages(); page++) {
                pool.free(block.pageId(page));
            }
        }
        end(plan);
    }

    /** Number of requests that are admitted and not yet released or abandoned. */
    public int activeRequests() {
        return activeRequests;
    }

    /** Page ids that hold nothing. */
    public int freePages() {
        return pool.freePages();
    }

    /** Page ids of cached blocks that no request uses: they are evicted when room is short. */
    public int idlePages() {
        return idlePages;
    }

    /** Number of blocks that are cached. */
    public int cachedBlocks() {
        return blocks.size();
    }

    /** Number of cached blocks that had to go, or to lose pages, for lack of room. */
    public long evictedBlocks() {
        return evictedBlocks;
    }

    /** Returns the cached part of a request. It changes nothing, so that a request that has to wait leaves no trace. */
    private Lookup lookUp(int inputTokens, BlockHashes hashes) {
        long admission = ++admissions;
        Lookup lookup = new Lookup(hashes.size());
        for (int i = 0; i < hashes.size(); i++) {
            CachedBlock cached = blocks.get(hashes.get(i));
            int pages = TokenLayout.pagesOfBlock(inputTokens, i);
            // A hash that occurs twice in one request is moved the second time: no page id serves two of its blocks.
            if (cached == null || pages == 0 || !cached.markSeenBy(admission)) {
                continue;
            }
            int reused = Math.min(pages, cached.pages());
            lookup.found[i] = cached;
            lookup.reusedPages += reused;
            if (!cached.pinned()) {
                lookup.idlePagesKept += reused;
            }
        }
        return lookup;
    }

    private RequestPlan plan(int inputTokens, BlockHashes hashes, Lookup lookup, int pagesToMove) {
        for (CachedBlock cached : lookup.found) {
            if (cached != null) {
                pin(cached);
            }
        }
        evictUntilFree(pagesToMove);
        trimUntilFree(pagesToMove, inputTokens, lookup);
        List<RequestPlan.PlannedBlock> planned = new ArrayList<>(hashes.size());
        for (int i = 0; i < hashes.size(); i++) {
            int pages = TokenLayout.pagesOfBlock(inputTokens, i);
            if (pages > 0) {
                planned.add(planBlock(i, hashes.get(i), pages, lookup.found[i]));
            }
        }
        activeRequests++;
        return new RequestPlan(
                List.copyOf(planned),
                lookup.found,
                TokenLayout.wholePages(inputTokens),
                pagesToMove,
                geometry.layers());
    }

    private RequestPlan.PlannedBlock planBlock(int index, long hash, int pages, @Nullable CachedBlock cached) {
        int reused = cached == null ? 0 : Math.min(pages, cached.pages());
        int[] pageIds = new int[pages];
        for (int page = 0; page < pages; page++) {
            pageIds[page] = cached != null && page < reused ? cached.pageId(page) : pool.allocate();
        }
        return new RequestPlan.PlannedBlock(index, hash, reused, pageIds);
    }

    private void evictUntilFree(int pages) {
        while (pool.freePages() < pages && !idle.isEmpty()) {
            CachedBlock victim = idle.pollFirstEntry().getValue();
            blocks.remove(victim.hash());
            idlePages -= victim.pages();
            evictedBlocks++;
            while (victim.pages() > 0) {
                pool.free(victim.removeLast());
            }
        }
    }

    /**
     * Frees pages that the request's last block has cached but does not need; no other block can be cached longer than
     * it is needed. Without this a request could wait for ever for pages that it pins itself. If another request uses
     * them they were not counted as available, and enough are free already.
     */
    private void trimUntilFree(int pages, int inputTokens, Lookup lookup) {
        int last = lookup.found.length - 1;
        CachedBlock cached = last < 0 ? null : lookup.found[last];
        if (cached == null || pool.freePages() >= pages) {
            return;
        }
        evictedBlocks++;
        int kept = TokenLayout.pagesOfBlock(inputTokens, last);
        while (cached.pages() > kept && pool.freePages() < pages) {
            pool.free(cached.removeLast());
        }
    }

    private CachedBlock pinForPublishing(RequestPlan plan, RequestPlan.PlannedBlock block) {
        CachedBlock pinned = plan.pinned[block.index()];
        if (pinned == null) {
            pinned = blocks.computeIfAbsent(block.hash(), CachedBlock::new);
            pin(pinned);
            plan.pinned[block.index()] = pinned;
        }
        return pinned;
    }

    private void end(RequestPlan plan) {
        // Backwards, so that the last block is the first in line for eviction.
        for (int i = plan.pinned.length - 1; i >= 0; i--) {
            CachedBlock pinned = plan.pinned[i];
            if (pinned != null) {
                unpin(pinned);
                plan.pinned[i] = null;
            }
        }
        activeRequests--;
        plan.state(RequestPlan.State.ENDED);
    }

    private void pin(CachedBlock block) {
        if (!block.pinned() && idle.remove(block.hash()) != null) {
            idlePages -= block.pages();
        }
        block.pin();
    }

    private void unpin(CachedBlock block) {
        block.unpin();
        if (!block.pinned()) {
            idle.putLast(block.hash(), block);
            idlePages += block.pages();
        }
    }

    private static void expect(RequestPlan plan, RequestPlan.State state) {
        if (plan.state() != state) {
            throw new IllegalStateException("the request is " + plan.state() + ", not " + state);
        }
    }

    /** The cached block of each block of a request, if there is one, and the sums over them. */
    private static final class Lookup {
        private final @Nullable CachedBlock[] found;
        private int reusedPages;

        /** Reused pages that are not pinned yet, which therefore can't be evicted for this request. */
        private int idlePagesKept;

        private Lookup(int blocks) {
            found = new CachedBlock[blocks];
        }
    }

    /** A block whose first pages are visible, verified and offered for reuse. It owns these pages until it is evicted. */
    static final class CachedBlock {
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

    /** The answer to a request that wants room in the page pool. */
    public sealed interface Admission {
        /**
         * There is room.
         *
         * @param plan what to move and what is reused; its pages are taken
         */
        record Admitted(RequestPlan plan) implements Admission {}

        /**
         * There will be room, but other requests hold too much of it now: ask again after one of them has ended. Nothing
         * was taken or evicted.
         *
         * @param pagesNeeded page ids that the request needs beyond those it can reuse
         * @param pagesAvailable page ids that are free or could be evicted now
         */
        record Busy(int pagesNeeded, int pagesAvailable) implements Admission {}
    }
}
