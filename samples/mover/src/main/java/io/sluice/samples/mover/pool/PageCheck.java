package io.sluice.samples.mover.pool;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Which pages of some blocks do not fit their seals. */
public final class PageCheck {

    private static final int NAMED = 8;

    private final Map<Long, Integer> corrupted;

    private PageCheck(Map<Long, Integer> corrupted) {
        this.corrupted = corrupted;
    }

    /** Reads all pages; not on an event loop. */
    static PageCheck of(BlockPool pool, List<BlockPool.ReservedBlock> blocks) {
        Map<Long, Integer> corrupted = new LinkedHashMap<>();
        for (BlockPool.ReservedBlock block : blocks) {
            int pages = BlockContent.corruptedPages(pool, block.hash(), block.slot());
            if (pages > 0) {
                corrupted.put(block.hash(), pages);
            }
        }
        return new PageCheck(corrupted);
    }

    /** Whether all pages of a block fit. */
    public boolean isWhole(long hash) {
        return !corrupted.containsKey(hash);
    }

    /** How many pages do not. */
    public int corruptedPages() {
        return corrupted.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** How many blocks have such pages. */
    public int corruptedBlocks() {
        return corrupted.size();
    }

    /** The blocks concerned, in words; of many the first. */
    public String detail() {
        return "in " + corrupted.size() + " blocks, "
                + corrupted.keySet().stream().limit(NAMED).map(BlockHash::text).collect(Collectors.joining(", "))
                + (corrupted.size() > NAMED ? ", …" : "");
    }
}
