package io.sluice.engine;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Objects;
import java.util.stream.Stream;

/** The size of the live heap after a collection, while other threads go on allocating. */
final class LiveHeap {
    private static final int COLLECTIONS = 3;
    private static final int PIECE = 1 << 20;

    private LiveHeap() {}

    /**
     * Collects, and returns what was live in bytes: as the collector counted it, for a reading that comes later counts
     * what was allocated since. The number of transfers in flight differs from one collection to the next.
     */
    static long bytes() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            ManagementFactory.getMemoryMXBean().gc();
            least = Math.min(
                    least,
                    pools().map(MemoryPoolMXBean::getCollectionUsage)
                            .filter(Objects::nonNull)
                            .mapToLong(MemoryUsage::getUsed)
                            .sum());
        }
        return least;
    }

    /** Has the process touch the heap that it may allocate from, so that this is no growth of the process later. */
    static void touch() {
        long committed =
                pools().mapToLong(pool -> pool.getUsage().getCommitted()).sum();
        long sum = 0;
        for (long touched = 0; touched < committed; touched += PIECE) {
            sum += new byte[PIECE].length;
        }
        if (sum < committed) {
            throw new AssertionError("touched " + sum + " of " + committed + " bytes");
        }
    }

    private static Stream<MemoryPoolMXBean> pools() {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP);
    }
}
