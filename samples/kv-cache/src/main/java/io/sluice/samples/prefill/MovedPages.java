package io.sluice.samples.prefill;

import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.control.PageAssignment;
import io.sluice.samples.kvcache.BlockHashes;
import io.sluice.samples.kvcache.TokenLayout;
import java.util.Arrays;

/**
 * The pages of a request that must be moved, the same in every layer, in the order of their page ids: neighbours in the
 * pool are neighbours here, so that a run of them can move as one piece.
 *
 * @param reusedPages how many pages of the request need not be moved, in each layer
 */
record MovedPages(long[] blockHashes, int[] pagesInBlock, int[] pageIds, int reusedPages) {
    /**
     * Returns the pages that an assignment requires to be moved.
     *
     * @param slots of the decode side's pool
     * @throws MalformedMessageException if the assignment does not fit the request or the pool
     */
    static MovedPages of(int inputTokens, BlockHashes hashes, PageAssignment assignment, int slots) {
        int count = assignment.movedPages();
        // Page id in the upper half, so that sorting these sorts by page id, and place in the request in the lower.
        long[] order = new long[count];
        long[] hashOfPage = new long[count];
        int[] pageOfPage = new int[count];
        int place = 0;
        int reused = 0;
        for (int block = 0; block < assignment.blocks(); block++) {
            int pages = block < hashes.size() ? TokenLayout.pagesOfBlock(inputTokens, block) : 0;
            require(pages > 0 && assignment.reusedPages(block) <= pages, "its blocks");
            reused += assignment.reusedPages(block);
            for (int page = assignment.reusedPages(block); page < pages; page++) {
                require(place < count, "its pages");
                order[place] = (long) assignment.movedPageId(place) << Integer.SIZE | place;
                hashOfPage[place] = hashes.get(block);
                pageOfPage[place] = page;
                place++;
            }
        }
        require(place == count && reused + count == TokenLayout.wholePages(inputTokens), "its pages");
        Arrays.sort(order);
        long[] blockHashes = new long[count];
        int[] pagesInBlock = new int[count];
        int[] pageIds = new int[count];
        for (int i = 0; i < count; i++) {
            pageIds[i] = (int) (order[i] >>> Integer.SIZE);
            blockHashes[i] = hashOfPage[(int) order[i]];
            pagesInBlock[i] = pageOfPage[(int) order[i]];
            require(pageIds[i] < slots, "the pool");
            require(i == 0 || pageIds[i] != pageIds[i - 1], "itself: a page id is there twice");
        }
        return new MovedPages(blockHashes, pagesInBlock, pageIds, reused);
    }

    /** How many there are, in each layer. */
    int count() {
        return pageIds.length;
    }

    long blockHash(int index) {
        return blockHashes[index];
    }

    int pageInBlock(int index) {
        return pagesInBlock[index];
    }

    int pageId(int index) {
        return pageIds[index];
    }

    private static void require(boolean fits, String what) {
        if (!fits) {
            throw new MalformedMessageException("the decode side's pages for a request don't fit " + what);
        }
    }
}
