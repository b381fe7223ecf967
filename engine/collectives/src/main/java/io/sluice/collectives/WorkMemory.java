package io.sluice.collectives;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Local memory for intermediate results, kept for later collectives up to a limit. Thread-safe. */
final class WorkMemory {
    private static final long SMALLEST = 64 << 10;

    private final TransferEngine engine;
    private final long mostKept;
    private final Map<Long, Deque<MemoryRegion>> free = new HashMap<>();
    private long kept;
    private boolean closed;

    WorkMemory(TransferEngine engine, long mostKept) {
        this.engine = engine;
        this.mostKept = mostKept;
    }

    /** Takes a region of at least so many bytes. */
    MemoryRegion take(long bytes) {
        long length = lengthOf(bytes);
        synchronized (this) {
            Deque<MemoryRegion> regions = free.get(length);
            MemoryRegion region = regions == null ? null : regions.poll();
            if (region != null) {
                kept -= length;
                return region;
            }
        }
        return engine.allocate(length, RegionOptions.local());
    }

    private static long lengthOf(long bytes) {
        long power = Long.highestOneBit(Math.max(SMALLEST, bytes));
        return power < bytes ? power * 2 : power;
    }

    /** Gives a region back that nothing touches any more. */
    void give(MemoryRegion region) {
        synchronized (this) {
            if (!closed && kept + region.length() <= mostKept) {
                free.computeIfAbsent(region.length(), length -> new ArrayDeque<>())
                        .push(region);
                kept += region.length();
                return;
            }
        }
        region.close();
    }

    CompletableFuture<Void> close() {
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        synchronized (this) {
            closed = true;
            free.values().forEach(regions -> regions.forEach(region -> closing.add(region.close())));
            free.clear();
        }
        return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
    }
}
