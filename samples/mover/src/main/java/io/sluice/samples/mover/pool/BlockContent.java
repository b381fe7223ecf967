package io.sluice.samples.mover.pool;

import io.sluice.samples.kvcache.PageFiller;
import io.sluice.samples.kvcache.PageSeal;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The content of a block: bytes that follow from its hash, and seals that name hash, page and layer. It reads or writes
 * every byte, so not on an event loop.
 */
public final class BlockContent {
    /** Equal hashes mean equal content. */
    private static final PageFiller FILLER = new PageFiller(0);

    /** Blocks belong to no request, and what an earlier transfer of the same block has left is the same. */
    private static final long NO_REQUEST = 0;

    private BlockContent() {}

    /** Computes a block into a reserved slot, and seals it. */
    public static void fill(BlockPool pool, long hash, int slot) {
        PoolLayout layout = pool.layout();
        MemorySegment seals = pool.seals().segment();
        for (int layer = 0; layer < layout.layers(); layer++) {
            for (int page = 0; page < layout.pagesPerBlock(); page++) {
                MemorySegment bytes = page(pool, layer, slot, page);
                FILLER.fill(bytes, hash, page, layer);
                PageSeal.store(seals, sealOffset(layout, layer, slot, page), seal(bytes, hash, page, layer));
            }
        }
    }

    /** How many pages of a block do not fit their seals. */
    public static int corruptedPages(BlockPool pool, long hash, int slot) {
        PoolLayout layout = pool.layout();
        MemorySegment seals = pool.seals().segment();
        int corrupted = 0;
        for (int layer = 0; layer < layout.layers(); layer++) {
            for (int page = 0; page < layout.pagesPerBlock(); page++) {
                int expected = PageSeal.load(seals, sealOffset(layout, layer, slot, page));
                if (seal(page(pool, layer, slot, page), hash, page, layer) != expected) {
                    corrupted++;
                }
            }
        }
        return corrupted;
    }

    private static MemorySegment page(BlockPool pool, int layer, int slot, int page) {
        PoolLayout layout = pool.layout();
        long offset = layout.pieceOffset(layer, slot) + (long) page * layout.pageBytes();
        return pool.pages().segment().asSlice(offset, layout.pageBytes());
    }

    private static long sealOffset(PoolLayout layout, int layer, int slot, int page) {
        return layout.sealPieceOffset(layer, slot) + (long) page * PageSeal.BYTES;
    }

    private static int seal(MemorySegment bytes, long hash, int page, int layer) {
        return PageSeal.of(bytes, NO_REQUEST, hash, page, layer);
    }

    /** Which pages of some blocks do not fit their seals. */
    public record PageCheck(Map<Long, Integer> corrupted) {
        private static final int NAMED = 8;

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

        public boolean isWhole(long hash) {
            return !corrupted.containsKey(hash);
        }

        public int corruptedPages() {
            return corrupted.values().stream().mapToInt(Integer::intValue).sum();
        }

        public int corruptedBlocks() {
            return corrupted.size();
        }

        /** The blocks concerned, in words; of many the first. */
        public String detail() {
            return "in " + corrupted.size() + " blocks, "
                    + corrupted.keySet().stream()
                            .limit(NAMED)
                            .map(BlockHash::text)
                            .collect(Collectors.joining(", "))
                    + (corrupted.size() > NAMED ? ", …" : "");
        }
    }
}
