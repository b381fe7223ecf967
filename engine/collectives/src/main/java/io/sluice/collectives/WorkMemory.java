package io.sluice.collectives;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.TransferEngine;
import io.sluice.jni.MachineFacts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/** Local memory for intermediate results, kept for later collectives up to a limit. Thread-safe. */
final class WorkMemory {
    private static final long SMALLEST = 64 << 10;
    // less than this costs less than the question how much is free
    private static final long UNASKED = 4L << 20;

    private final TransferEngine engine;
    private final long mostKept;
    private final LongSupplier available;
    private final Map<Long, Deque<MemoryRegion>> free = new HashMap<>();
    private long kept;
    private boolean closed;

    WorkMemory(TransferEngine engine, long mostKept) {
        this(engine, mostKept, MachineFacts::availableMemory);
    }

    WorkMemory(TransferEngine engine, long mostKept, LongSupplier available) {
        this.engine = engine;
        this.mostKept = mostKept;
        this.available = available;
    }

    /**
     * Checks that the machine has twice as much memory left: the system ends processes where it runs out.
     *
     * @param what needs it, for the message
     * @throws RegistrationException if it has not
     */
    static void checkAvailable(String what, long bytes, LongSupplier available) {
        if (bytes < UNASKED) {
            return;
        }
        long left = available.getAsLong();
        // negative where the kernel does not say
        if (left >= 0 && bytes > left / 2) {
            throw new RegistrationException(
                    what + " would take " + bytes + " bytes, more than half of the " + left + " bytes that are free");
        }
    }

    /**
     * Takes a region of at least so many bytes.
     *
     * @throws RegistrationException if they are more than half of the free memory
     */
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
        checkAvailable("memory for intermediate results", length, available);
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
