package io.sluice.samples.control;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.samples.kvcache.RequestPlan;
import io.sluice.samples.kvcache.RequestPlan.PlannedBlock;
import io.sluice.samples.kvcache.TokenLayout;
import java.util.Arrays;
import java.util.List;

/**
 * The answer of the decode side to a request for room: how many pages at the start of each block it has already, and the
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

    /**
     * From a message, where page ids, which mostly follow each other, are runs: the first id and how many there are.
     *
     * @throws IllegalArgumentException if they are no runs of page ids, or of more than the blocks can have
     */
    @JsonCreator
    static PageAssignment ofRuns(@JsonProperty("reused") int[] reused, @JsonProperty("runs") int[] runs) {
        if (reused.length > ControlCodec.MAX_BLOCKS) {
            throw new IllegalArgumentException(reused.length + " blocks are more than any input has");
        }
        long moved = 0;
        for (int i = 0; i < runs.length; i += 2) {
            if (i + 1 == runs.length || runs[i] < 0 || runs[i + 1] < 1 || runs[i] > Integer.MAX_VALUE - runs[i + 1]) {
                throw new IllegalArgumentException("the page ids are no runs of ids");
            }
            moved += runs[i + 1];
        }
        // Before memory is taken for them: a few bytes cannot ask for much.
        if (moved > (long) reused.length * TokenLayout.BLOCK_PAGES) {
            throw new IllegalArgumentException(
                    moved + " pages to move are more than " + reused.length + " blocks have");
        }
        int[] ids = new int[(int) moved];
        int count = 0;
        for (int i = 0; i < runs.length; i += 2) {
            for (int id = runs[i]; id < runs[i] + runs[i + 1]; id++) {
                ids[count++] = id;
            }
        }
        return new PageAssignment(reused, ids);
    }

    @JsonProperty("reused")
    int[] reused() {
        return reusedPages.clone();
    }

    @JsonProperty("runs")
    int[] runs() {
        int[] runs = new int[2 * movedPageIds.length];
        int length = 0;
        for (int i = 0; i < movedPageIds.length; i++) {
            if (i == 0 || movedPageIds[i] != movedPageIds[i - 1] + 1) {
                runs[length] = movedPageIds[i];
                length += 2;
            }
            runs[length - 1]++;
        }
        return Arrays.copyOf(runs, length);
    }

    /** Creates the assignment of a plan. */
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
