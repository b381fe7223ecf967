package io.sluice.samples.mover.pool;

import io.sluice.engine.MemoryRegion;
import io.sluice.samples.kvcache.PagePool;
import io.vertx.core.json.JsonObject;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Blocks by their hash, in registered memory. When it is full, the block that was not used for the longest time makes room,
 * unless it is read. Confined to the context of its mover, but for the memory.
 */
public final class BlockPool {
    /** What {@link #reserve} and {@link #pin} say when there is nothing to give. */
    public static final int NONE = -1;

    private static final String PAGES = "/pages";
    private static final String SEALS = "/seals";

    private final String name;
    private final long generation;
    private final PoolLayout layout;
    private final MemoryRegion pages;
    private final MemoryRegion seals;
    private final PagePool slots;
    /** The one that was not used for the longest time first. */
    private final Map<Long, HeldBlock> blocks = new LinkedHashMap<>();

    private int reserved;
    private int pinned;
    private long evicted;
    private long corruptedPages;

    /**
     * An empty pool.
     *
     * @param generation another one for each pool of a mover
     */
    public BlockPool(String name, long generation, PoolLayout layout, MemoryRegion pages, MemoryRegion seals) {
        this.name = name;
        this.generation = generation;
        this.layout = layout;
        this.pages = pages;
        this.seals = seals;
        this.slots = new PagePool(layout.blocks());
    }

    /** The name of the region of a pool's pages. */
    public static String pagesRegion(String pool) {
        return pool + PAGES;
    }

    /** The name of the region of a pool's seals. */
    public static String sealsRegion(String pool) {
        return pool + SEALS;
    }

    /** The name, the same on both sides of a move. */
    public String name() {
        return name;
    }

    /** Tells this pool from others that had its name before. */
    public long generation() {
        return generation;
    }

    /** Its shape. */
    public PoolLayout layout() {
        return layout;
    }

    /** Where the pages lie. */
    public MemoryRegion pages() {
        return pages;
    }

    /** Where their seals lie. */
    public MemoryRegion seals() {
        return seals;
    }

    /** Whether a block is there. */
    public boolean has(long hash) {
        return blocks.containsKey(hash);
    }

    /** How many blocks are there. */
    public int size() {
        return blocks.size();
    }

    /** Hashes of the blocks that are there, those that will make room first at the beginning. */
    public List<Long> hashes(long skip, long limit) {
        return blocks.keySet().stream().skip(skip).limit(limit).toList();
    }

    /**
     * Takes a slot for a block that is to come.
     *
     * @return the slot, or {@link #NONE} if all are read or written
     */
    public int reserve() {
        if (slots.freePages() == 0 && !evict()) {
            return NONE;
        }
        reserved++;
        return slots.allocate();
    }

    private boolean evict() {
        for (Iterator<HeldBlock> eldest = blocks.values().iterator(); eldest.hasNext(); ) {
            HeldBlock block = eldest.next();
            if (!block.isPinned()) {
                eldest.remove();
                slots.free(block.slot());
                evicted++;
                return true;
            }
        }
        return false;
    }

    /** A reserved slot holds a block now. If the block has come by another way meanwhile, the slot is free again. */
    public void admit(long hash, int slot) {
        if (blocks.containsKey(hash)) {
            giveBack(slot);
        } else {
            reserved--;
            blocks.put(hash, new HeldBlock(slot));
        }
    }

    /** Nothing has come into a reserved slot, and nothing can touch it any more. */
    public void giveBack(int slot) {
        reserved--;
        slots.free(slot);
    }

    /**
     * Keeps a block where it is for a reader.
     *
     * @return its slot, or {@link #NONE} if there is no such block
     */
    public int pin(long hash) {
        HeldBlock block = blocks.remove(hash);
        if (block == null) {
            return NONE;
        }
        // Put in again: now it is the one used last.
        blocks.put(hash, block);
        pinned += block.pin() ? 1 : 0;
        return block.slot();
    }

    /** A reader has done with a block. */
    public void unpin(long hash) {
        HeldBlock block = blocks.get(hash);
        if (block != null && block.isPinned()) {
            pinned -= block.unpin() ? 1 : 0;
        }
    }

    /** Whether blocks are being read or written. */
    public boolean isInUse() {
        return reserved > 0 || pinned > 0;
    }

    /** Pages that did not fit their seals were found. */
    public void foundCorrupted(int pagesFound) {
        corruptedPages += pagesFound;
    }

    /** How many pages that arrived here did not fit their seals. */
    public long corruptedPages() {
        return corruptedPages;
    }

    /** The pool as the API describes it. */
    public JsonObject toJson() {
        return new JsonObject()
                .put("name", name)
                .mergeIn(layout.toJson())
                .put("blockBytes", layout.blockBytes())
                .put("bytes", layout.pagesBytes() + layout.sealsBytes())
                .put("blocksHeld", blocks.size())
                .put("blocksReserved", reserved)
                .put("blocksPinned", pinned)
                .put("blocksEvicted", evicted)
                .put("pagesCorrupted", corruptedPages);
    }

    /** A block in its slot, with the number of those who read it. */
    static final class HeldBlock {
        private final int slot;
        private int pins;

        HeldBlock(int slot) {
            this.slot = slot;
        }

        int slot() {
            return slot;
        }

        /** One more reader; whether it is the first. */
        boolean pin() {
            pins++;
            return pins == 1;
        }

        /** One reader less; whether it was the last. */
        boolean unpin() {
            pins--;
            return pins == 0;
        }

        boolean isPinned() {
            return pins > 0;
        }
    }

    /** A block that is to come, and the slot that waits for it. */
    public record ReservedBlock(long hash, int slot) {}
}
