package io.sluice.samples.control;

import io.sluice.samples.kvcache.PlannedBlock;
import io.sluice.samples.kvcache.RequestPlan;
import java.util.Arrays;
import java.util.List;

/**
 * What the decode side answers to a request for room: how many pages at the start of each block it has already, and the
 * page ids for the others, block by block. Page counts are for each layer. Immutable.
 */
public final class PageAssignment {

    private final int[] reusedPages;
    private final int[] movedPageIds;

    /**
     * From its parts, which are copied.
     *
     * @param reusedPages for each block that has a whole page, how many of its pages are reused
     * @param movedPageIds the page ids of all other pages, in the order of the request
     */
    public PageAssignment(int[] reusedPages, int[] movedPageIds) {
        this.reusedPages = reusedPages.clone();
        this.movedPageIds = movedPageIds.clone();
    }

    /** What a plan says. */
    public static PageAssignment of(RequestPlan plan) {
        List<PlannedBlock> blocks = plan.blocks();
        int[] reused = new int[blocks.size()];
        int[] moved = new int[plan.pagesToMovePerLayer()];
        int count = 0;
        for (int i = 0; i < reused.length; i++) {
            PlannedBlock block = blocks.get(i);
            reused[i] = block.reusedPages();
            for (int page = block.reusedPages(); page < block.pages(); page++) {
                moved[count++] = block.pageId(page);
            }
        }
        return new PageAssignment(reused, moved);
    }

    /** Blocks that have at least one whole page. */
    public int blocks() {
        return reusedPages.length;
    }

    /** Pages at the start of a block that need not be moved. */
    public int reusedPages(int block) {
        return reusedPages[block];
    }

    /** Pages that must be moved. */
    public int movedPages() {
        return movedPageIds.length;
    }

    /** Where a page must be moved to, counted over all pages to be moved. */
    public int movedPageId(int index) {
        return movedPageIds[index];
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PageAssignment that
                && Arrays.equals(reusedPages, that.reusedPages)
                && Arrays.equals(movedPageIds, that.movedPageIds);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(reusedPages) + Arrays.hashCode(movedPageIds);
    }

    @Override
    public String toString() {
        return "PageAssignment[" + blocks() + " blocks, " + movedPages() + " pages to move]";
    }
}
