package io.sluice.cuda;

import io.sluice.jni.CudaMemory;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The pages of the host that this process has pinned: each once, though several regions or engines may have them, as the driver takes
 * no page twice. Any thread; to pin blocks.
 */
final class PinnedRanges {
    private static final long PAGE_BYTES = 4096;

    // by where each begins; all of the process, since the driver's registrations are
    private static final NavigableMap<Long, Range> RANGES = new TreeMap<>();

    private PinnedRanges() {}

    private static final class Range {
        private final long bytes;
        private final long deviceAddress;
        private int uses = 1;

        Range(long bytes, long deviceAddress) {
            this.bytes = bytes;
            this.deviceAddress = deviceAddress;
        }
    }

    /** Pins memory. Where a GPU sees it. */
    static long pin(Gpu gpu, long address, long bytes) {
        long from = address / PAGE_BYTES * PAGE_BYTES;
        long length = (address + bytes - from + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        synchronized (RANGES) {
            Map.Entry<Long, Range> before = RANGES.floorEntry(from);
            if (before != null && from + length <= before.getKey() + before.getValue().bytes) {
                before.getValue().uses++;
                return before.getValue().deviceAddress + (address - before.getKey());
            }
            long at = CudaException.check(
                    CudaMemory.registerHost(gpu.device(), from, length), "cannot pin " + length + " bytes of the host");
            RANGES.put(from, new Range(length, at));
            return at + (address - from);
        }
    }

    /** Ends one use of what was pinned. No GPU touches the memory. */
    static void unpin(Gpu gpu, long address) {
        synchronized (RANGES) {
            Map.Entry<Long, Range> range = RANGES.floorEntry(address);
            if (range != null && --range.getValue().uses == 0) {
                RANGES.remove(range.getKey());
                CudaMemory.unregisterHost(gpu.device(), range.getKey());
            }
        }
    }
}
