package io.sluice.samples.kvcache;

import java.util.Objects;

/**
 * The layout of a page pool in one contiguous region: for each layer an array of page slots, so page slot {@code p} of
 * layer {@code l} starts at {@code (l * slots + p) * pageBytes}. One page id names the same slot in all layers.
 *
 * @param pageBytes bytes of one page of one layer
 * @param slots number of page ids, which is the number of page slots of each layer
 */
public record PageGeometry(int layers, int pageBytes, int slots) {
    /** Checks that all sizes are positive and that the whole pool can be addressed by a 64-bit offset. */
    public PageGeometry {
        if (layers < 1 || pageBytes < 1 || slots < 1) {
            throw new IllegalArgumentException(
                    "layers, page bytes and slots must be positive: " + layers + ", " + pageBytes + ", " + slots);
        }
        // Checked once here, so that no offset inside the pool can overflow later.
        if (Math.multiplyHigh((long) layers * slots, pageBytes) != 0 || (long) layers * slots * pageBytes < 0) {
            throw new IllegalArgumentException("a pool of " + layers + " layers, " + slots + " slots and pages of "
                    + pageBytes + " bytes exceeds 64-bit offsets");
        }
    }

    /**
     * The geometry with as many page slots as fit into a pool.
     *
     * @param poolBytes bytes that may be used; what is left over after the last whole slot stays unused
     * @throws PoolTooSmallException if not even one page id fits
     */
    public static PageGeometry fitting(ModelPreset model, long poolBytes) {
        long slotBytes = (long) model.layers() * model.pageBytes();
        if (poolBytes < slotBytes) {
            throw new PoolTooSmallException("one page of each layer of " + model.name(), slotBytes, poolBytes);
        }
        return new PageGeometry(
                model.layers(), model.pageBytes(), (int) Math.min(Integer.MAX_VALUE, poolBytes / slotBytes));
    }

    /** Bytes that one page id takes in all layers together. */
    public long slotBytes() {
        return (long) layers * pageBytes;
    }

    /** Bytes of the whole pool. */
    public long poolBytes() {
        return slotBytes() * slots;
    }

    /**
     * Where a page starts, in bytes from the start of the pool.
     *
     * @param layer from 0 to {@code layers - 1}
     * @param pageId from 0 to {@code slots - 1}
     */
    public long offset(int layer, int pageId) {
        Objects.checkIndex(layer, layers);
        Objects.checkIndex(pageId, slots);
        return ((long) layer * slots + pageId) * pageBytes;
    }

    /** Bytes of the table of {@linkplain PageSeal seals}: one for each page slot. Neighbours in the pool are neighbours there. */
    public long sealBytes() {
        return (long) layers * slots * PageSeal.BYTES;
    }

    /** Where the seal of a page starts, in bytes from the start of the table. */
    public long sealOffset(int layer, int pageId) {
        return offset(layer, pageId) / pageBytes * PageSeal.BYTES;
    }
}
