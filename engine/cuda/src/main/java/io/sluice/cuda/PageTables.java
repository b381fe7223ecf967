package io.sluice.cuda;

import io.sluice.engine.transport.PageTable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Pinned tables of offsets, which kernels read. Each has room for {@link #MOST_PAGES} on both sides. On the loop's thread. */
final class PageTables {
    /**
     * How many pages one launch may copy: more than one request has, since a launch of few blocks leaves most of the GPU idle. The
     * system property {@code sluice.cuda.most-pages} lowers it, at most to {@link PageTable#MOST_PAGES}.
     */
    static final int MOST_PAGES =
            Math.clamp(Integer.getInteger("sluice.cuda.most-pages", 4096), PageTable.MOST_PAGES, 4096);

    private static final int COUNT = 16;
    private static final long COLUMN_BYTES = (long) MOST_PAGES * Long.BYTES;
    private static final long TABLE_BYTES = 2 * COLUMN_BYTES;

    /** How much pinned memory they take. */
    static final long BYTES = COUNT * TABLE_BYTES;

    private final MemorySegment pinned;
    private final long deviceAddress;
    private final int[] free = new int[COUNT];
    private int count = COUNT;

    PageTables(MemorySegment pinned, long deviceAddress) {
        this.pinned = pinned;
        this.deviceAddress = deviceAddress;
        for (int i = 0; i < COUNT; i++) {
            free[i] = i;
        }
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** One that nothing uses, or −1. */
    int take() {
        return count == 0 ? -1 : free[--count];
    }

    void giveBack(int slot) {
        free[count++] = slot;
    }

    /** Where a GPU sees the offsets of the destination's pages. */
    long destinations(int slot) {
        return deviceAddress + slot * TABLE_BYTES;
    }

    /** Where it sees those of the source's. */
    long sources(int slot) {
        return destinations(slot) + COLUMN_BYTES;
    }

    void set(int slot, int page, long destination, long source) {
        long at = slot * TABLE_BYTES + (long) page * Long.BYTES;
        pinned.set(ValueLayout.JAVA_LONG, at, destination);
        pinned.set(ValueLayout.JAVA_LONG, at + COLUMN_BYTES, source);
    }

    /** Takes over pages of a list. */
    void set(int slot, MemorySegment destinations, MemorySegment sources, int first, int pages) {
        long from = (long) first * Long.BYTES;
        long bytes = (long) pages * Long.BYTES;
        MemorySegment.copy(destinations, from, pinned, slot * TABLE_BYTES, bytes);
        MemorySegment.copy(sources, from, pinned, slot * TABLE_BYTES + COLUMN_BYTES, bytes);
    }
}
