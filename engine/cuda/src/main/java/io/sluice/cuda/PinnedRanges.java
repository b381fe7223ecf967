package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The pages of the host that this process has pinned: each once, though several regions or engines may have them, as the driver takes
 * no page twice. Any thread; to pin blocks.
 */
final class PinnedRanges {
    private static final long PAGE_BYTES = 4096;
    private static final int NOT_SUPPORTED = -801;

    // by where each begins; all of the process, since the driver's registrations are
    private static final NavigableMap<Long, Range> RANGES = new TreeMap<>();

    private PinnedRanges() {}

    /** What the driver has taken in one call. It keeps the device open that did it. */
    private static final class Range {
        private final long from;
        private final long bytes;
        private final long device;
        private final long deviceAddress;
        private int uses;

        Range(Gpu gpu, long from, long bytes) {
            this.from = from;
            this.bytes = bytes;
            this.device = CudaException.check(CudaDevice.open(gpu.ordinal()), "cannot open " + gpu.id());
            try {
                this.deviceAddress = CudaException.check(
                        CudaMemory.registerHost(device, from, bytes), "cannot pin " + bytes + " bytes of the host");
            } catch (CudaException e) {
                CudaDevice.close(device);
                throw e;
            }
        }

        long end() {
            return from + bytes;
        }

        void leave() {
            if (--uses == 0) {
                RANGES.remove(from);
                CudaMemory.unregisterHost(device, from);
                CudaDevice.close(device);
            }
        }
    }

    /** The pages of one region. They may be of several ranges, if others have pinned some of them before. */
    static final class Pin implements AutoCloseable {
        private final List<Range> ranges;
        private final long distance;

        private Pin(List<Range> ranges) {
            this.ranges = ranges;
            this.distance = ranges.getFirst().deviceAddress - ranges.getFirst().from;
        }

        /** Where a GPU sees a byte of the host's. */
        long deviceAddress(long address) {
            return address + distance;
        }

        /** Where the range ends that a GPU sees a byte in: no copy engine goes beyond it in one operation, though kernels do. */
        long end(long deviceAddress) {
            for (int i = 0; i < ranges.size() - 1; i++) {
                if (deviceAddress - distance < ranges.get(i).end()) {
                    return ranges.get(i).end() + distance;
                }
            }
            return Long.MAX_VALUE;
        }

        /** No GPU touches the memory. */
        @Override
        public void close() {
            synchronized (RANGES) {
                ranges.forEach(Range::leave);
            }
        }
    }

    /**
     * Pins memory.
     *
     * @throws CudaException if the driver does not take it
     */
    static Pin pin(Gpu gpu, long address, long bytes) {
        long to = (address + bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        synchronized (RANGES) {
            List<Range> ranges = new ArrayList<>();
            try {
                for (long at = address / PAGE_BYTES * PAGE_BYTES;
                        at < to;
                        at = ranges.getLast().end()) {
                    Range range = range(gpu, at, to);
                    range.uses++;
                    ranges.add(range);
                }
                Pin pin = new Pin(ranges);
                for (Range each : ranges) {
                    if (pin.deviceAddress(each.from) != each.deviceAddress) {
                        throw new CudaException("GPUs see regions apart that share pages of the host", NOT_SUPPORTED);
                    }
                }
                return pin;
            } catch (CudaException e) {
                ranges.forEach(Range::leave);
                throw e;
            }
        }
    }

    /** The range that a page is in; a new one, up to the next or the end, if it is in none. */
    private static Range range(Gpu gpu, long at, long to) {
        Map.Entry<Long, Range> before = RANGES.floorEntry(at);
        if (before != null && at < before.getValue().end()) {
            return before.getValue();
        }
        Long next = RANGES.ceilingKey(at);
        Range made = new Range(gpu, at, (next == null ? to : Math.min(next, to)) - at);
        RANGES.put(at, made);
        return made;
    }
}
