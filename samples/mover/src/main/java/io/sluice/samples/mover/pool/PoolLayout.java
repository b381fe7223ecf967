package io.sluice.samples.mover.pool;

import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.kvcache.PageSeal;
import io.sluice.samples.kvcache.TokenLayout;
import io.vertx.core.json.JsonObject;

/**
 * The shape of a pool. A block is a run of neighbouring page slots, the same in every layer; so in each layer its pages
 * are one piece of memory, and its seals another.
 *
 * @param pageBytes bytes of one page of one layer
 * @param pagesPerBlock pages of a block in one layer
 * @param blocks how many blocks there is room for
 */
public record PoolLayout(int layers, int pageBytes, int pagesPerBlock, int blocks) {
    public static final int MOST_BLOCKS = 1 << 20;

    /** A slot's number, and the entry of a block in it: hash, use and pins. */
    private static final long HEAP_BYTES_OF_BLOCK = 104;

    /** Checks that all sizes are positive, and that a pool of this shape can be addressed. */
    public PoolLayout {
        if (pagesPerBlock < 1 || blocks < 1) {
            throw new IllegalArgumentException(
                    "pages per block and blocks must be positive: " + pagesPerBlock + ", " + blocks);
        }
        if (blocks > MOST_BLOCKS) {
            throw new IllegalArgumentException("a pool has at most " + MOST_BLOCKS + " blocks, not " + blocks);
        }
        long pages = (long) pagesPerBlock * blocks;
        if (pages > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a pool has at most " + Integer.MAX_VALUE + " pages a layer: " + pages);
        }
        PageGeometry checked = new PageGeometry(layers, pageBytes, (int) pages);
        if (checked.pageBytes() > Integer.MAX_VALUE / pagesPerBlock) {
            throw new IllegalArgumentException("a block takes less than 2 GiB in each layer");
        }
    }

    /** Blocks of 512 tokens of a model. */
    public static PoolLayout of(ModelPreset model, int blocks) {
        return new PoolLayout(model.layers(), model.pageBytes(), TokenLayout.BLOCK_PAGES, blocks);
    }

    /**
     * Parses a request: {@code model} and {@code blocks}, or {@code pageBytes} and {@code blocks} with, if wanted,
     * {@code layers} and {@code pagesPerBlock}, which are 1 by default.
     *
     * @throws IllegalArgumentException if it asks for both, for none, or for something that cannot be
     */
    public static PoolLayout asked(JsonObject request) {
        Integer blocks = request.getInteger("blocks");
        if (blocks == null) {
            throw new IllegalArgumentException("'blocks' is missing");
        }
        String model = request.getString("model");
        Integer pageBytes = request.getInteger("pageBytes");
        if ((model == null) == (pageBytes == null)) {
            throw new IllegalArgumentException("give either 'model' or 'pageBytes'");
        }
        if (model != null) {
            return of(ModelPreset.named(model), blocks);
        }
        return new PoolLayout(
                request.getInteger("layers", 1), pageBytes, request.getInteger("pagesPerBlock", 1), blocks);
    }

    public static PoolLayout fromJson(JsonObject json) {
        return new PoolLayout(
                json.getInteger("layers"),
                json.getInteger("pageBytes"),
                json.getInteger("pagesPerBlock"),
                json.getInteger("blocks"));
    }

    public JsonObject toJson() {
        return new JsonObject()
                .put("layers", layers)
                .put("pageBytes", pageBytes)
                .put("pagesPerBlock", pagesPerBlock)
                .put("blocks", blocks);
    }

    /** Whether blocks of one can be put into the other. */
    public boolean hasBlocksLike(PoolLayout other) {
        return layers == other.layers && pageBytes == other.pageBytes && pagesPerBlock == other.pagesPerBlock;
    }

    /** How the pages lie in their region. */
    public PageGeometry geometry() {
        return new PageGeometry(layers, pageBytes, pagesPerBlock * blocks);
    }

    /** Bytes that one block takes on its way: pages and seals. */
    public long blockBytes() {
        return (long) layers * (pieceBytes() + sealPieceBytes());
    }

    /** Bytes of the region of the pages. */
    public long pagesBytes() {
        return geometry().poolBytes();
    }

    /** Bytes of the region of the seals. */
    public long sealsBytes() {
        return geometry().sealBytes();
    }

    /** Bytes that a pool takes when it is full: its regions, and about as much of the heap as keeping account does. */
    public long memoryBytes() {
        return pagesBytes() + sealsBytes() + HEAP_BYTES_OF_BLOCK * blocks;
    }

    /** Bytes of a block's pages in one layer. */
    public int pieceBytes() {
        return pagesPerBlock * pageBytes;
    }

    /** Bytes of a block's seals in one layer. */
    public int sealPieceBytes() {
        return pagesPerBlock * PageSeal.BYTES;
    }

    /** Where a block's pages in a layer begin. */
    public long pieceOffset(int layer, int slot) {
        return geometry().offset(layer, slot * pagesPerBlock);
    }

    /** Where a block's seals in a layer begin. */
    public long sealPieceOffset(int layer, int slot) {
        return geometry().sealOffset(layer, slot * pagesPerBlock);
    }
}
