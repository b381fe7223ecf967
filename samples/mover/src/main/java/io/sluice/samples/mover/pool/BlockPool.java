package io.sluice.samples.mover.pool;

import io.sluice.engine.MemoryRegion;
import io.sluice.samples.kvcache.PagePool;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Blocks by their hash, in registered memory. When it is full, the block that was not used for the longest time makes room,
 * unless it is read. Confined to the context of its mover, but for the memory.
 */
public final class BlockPool {
    /** The result of {@link #reserve} and {@link #pin} when they find no slot. */
    public static final int NONE = -1;

    private final String name;
    private final long generation;
    private final PoolLayout layout;
    private final MemoryRegion pages;
    private final MemoryRegion seals;
    private final PagePool slots;
    /** The one that was not used for the longest time first. */
    private final Map<Long, Integer> blocks = new LinkedHashMap<>();

    /** The number of those who read a block, of blocks that are read. */
    private final Map<Long, Integer> pins = new HashMap<>();

    private int reserved;
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
        return pool + "/pages";
    }

    /** The name of the region of a pool's seals. */
    public static String sealsRegion(String pool) {
        return pool + "/seals";
    }

    public String name() {
        return name;
    }

    /** Tells this pool from others that had its name before. */
    public long generation() {
        return generation;
    }

    public PoolLayout layout() {
        return layout;
    }

    public MemoryRegion pages() {
        return pages;
    }

    public MemoryRegion seals() {
        return seals;
    }

    public boolean has(long hash) {
        return blocks.containsKey(hash);
    }

    public int size() {
        return blocks.size();
    }

    /** Hashes of the blocks that are there, those that will make room first at the beginning. */
    public List<Long> hashes(long skip, long limit) {
        return blocks.keySet().stream().skip(skip).limit(limit).toList();
    }

    /** Some of these hashes as JSON, with how many blocks there are. */
    public JsonObject listing(int skip, int limit) {
        return new JsonObject()
                .put("pool", name)
                .put("total", size())
                .put("blocks", BlockHash.texts(hashes(skip, limit)));
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
        for (Iterator<Map.Entry<Long, Integer>> eldest = blocks.entrySet().iterator(); eldest.hasNext(); ) {
            Map.Entry<Long, Integer> block = eldest.next();
            if (!pins.containsKey(block.getKey())) {
                eldest.remove();
                slots.free(block.getValue());
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
            blocks.put(hash, slot);
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
        Integer slot = blocks.remove(hash);
        if (slot == null) {
            return NONE;
        }
        // Put in again: now it is the one used last.
        blocks.put(hash, slot);
        pins.merge(hash, 1, Integer::sum);
        return slot;
    }

    /** A reader has done with a block. */
    public void unpin(long hash) {
        pins.computeIfPresent(hash, (pinned, count) -> count > 1 ? count - 1 : null);
    }

    /** Whether blocks are being read or written. */
    public boolean isInUse() {
        return reserved > 0 || !pins.isEmpty();
    }

    /** Pages that did not fit their seals were found. */
    public void foundCorrupted(int pagesFound) {
        corruptedPages += pagesFound;
    }

    public JsonObject toJson() {
        return new JsonObject()
                .put("name", name)
                .mergeIn(layout.toJson())
                .put("blockBytes", layout.blockBytes())
                .put("bytes", layout.pagesBytes() + layout.sealsBytes())
                .put("blocksHeld", blocks.size())
                .put("blocksReserved", reserved)
                .put("blocksPinned", pins.size())
                .put("blocksEvicted", evicted)
                .put("pagesCorrupted", corruptedPages);
    }

    /** A block that is to come, and the slot that waits for it. */
    public record ReservedBlock(long hash, int slot) {}
}
