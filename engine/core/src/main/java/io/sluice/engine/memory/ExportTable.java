package io.sluice.engine.memory;

import io.sluice.engine.transport.ExportedRegion;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The exports of one connection by handle. A handle is an index with a generation above it, so that a stale handle
 * never reaches a later region. Confined to the connection's loop.
 */
public final class ExportTable {
    private final int limit;
    // each by path; null for paths that do not reach it
    private @Nullable RegionExport[] @Nullable [] exports = new @Nullable RegionExport[16] @Nullable [];
    private int[] generations = new int[16];
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int used;

    public ExportTable(int limit) {
        this.limit = limit;
    }

    /**
     * Adds one region or slice.
     *
     * @param export the exports by path; at least one is not null
     * @return the handle, or −1 if the table is full
     */
    long add(@Nullable RegionExport... export) {
        Integer reused = free.pollFirst();
        int index;
        if (reused != null) {
            index = reused;
        } else if (used == limit) {
            return -1;
        } else {
            index = used++;
            if (index == exports.length) {
                exports = Arrays.copyOf(exports, index * 2);
                generations = Arrays.copyOf(generations, index * 2);
            }
        }
        exports[index] = export;
        return ((long) generations[index] << 32) | index;
    }

    /** Returns the export of a handle, over any path; null if there is none. */
    @Nullable
    RegionExport get(long handle) {
        @Nullable RegionExport[] byPath = find(handle);
        return byPath == null ? null : any(byPath);
    }

    /** Returns the export of a handle over a path; null if there is none. */
    public @Nullable ExportedRegion get(long handle, int path) {
        @Nullable RegionExport[] byPath = find(handle);
        return byPath == null ? null : byPath[path];
    }

    private @Nullable RegionExport @Nullable [] find(long handle) {
        int index = (int) handle;
        if (index < 0 || index >= used || generations[index] != (int) (handle >>> 32)) {
            return null;
        }
        return exports[index];
    }

    private static RegionExport any(@Nullable RegionExport[] byPath) {
        for (RegionExport export : byPath) {
            if (export != null) {
                return export;
            }
        }
        throw new IllegalStateException("a handle without a path");
    }

    /** Removes a handle; returns false if it is unknown. */
    boolean remove(long handle) {
        if (find(handle) == null) {
            return false;
        }
        free((int) handle);
        return true;
    }

    public void removeAll(LocalRegion region, LongConsumer ended) {
        for (int i = 0; i < used; i++) {
            @Nullable RegionExport[] byPath = exports[i];
            if (byPath != null && any(byPath).region() == region) {
                long handle = ((long) generations[i] << 32) | i;
                free(i);
                ended.accept(handle);
            }
        }
    }

    private void free(int index) {
        exports[index] = null;
        generations[index] = (generations[index] + 1) & Integer.MAX_VALUE;
        free.addLast(index);
    }
}
