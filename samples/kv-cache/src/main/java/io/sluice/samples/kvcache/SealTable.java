package io.sluice.samples.kvcache;

/**
 * The layout of the table of {@linkplain PageSeal seals} of a page pool: one seal for each page slot,
 * in the order of the slots. Neighbours in the pool are neighbours in the table.
 *
 * @param geometry of the page pool
 */
public record SealTable(PageGeometry geometry) {

    /** Bytes of the whole table. */
    public long bytes() {
        return (long) geometry.layers() * geometry.slots() * PageSeal.BYTES;
    }

    /**
     * Where the seal of a page starts, in bytes from the start of the table.
     *
     * @param layer from 0 to {@code layers - 1}
     * @param pageId from 0 to {@code slots - 1}
     */
    public long offset(int layer, int pageId) {
        return geometry.offset(layer, pageId) / geometry.pageBytes() * PageSeal.BYTES;
    }
}
