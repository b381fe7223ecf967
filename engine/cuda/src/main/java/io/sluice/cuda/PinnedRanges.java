package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import io.sluice.jni.MachineFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The pages of the host that this process has pinned: each once, though several regions or engines may have them, as the driver takes
 * no page twice. Pages that the user has pinned are used as they are, and stay so. Any thread; to pin and to let go of pages blocks.
 */
final class PinnedRanges {
    /** The host's. */
    static final long PAGE_BYTES = MachineFacts.pageSize();

    private static final int INVALID_VALUE = -1;
    private static final int ALREADY_REGISTERED = -712;

    // by where each begins; all of the process, since the driver's registrations are
    private static final NavigableMap<Long, Range> RANGES = new TreeMap<>();

    private PinnedRanges() {}

    /** A range that one call, of this class or of the user, has registered. It keeps that call's device open. */
    private static final class Range {
        private final long from;
        private final long bytes;
        private final long device;
        private final long deviceAddress;
        private final boolean isOwn;
        private int uses;

        private Range(long from, long to, long device, long deviceAddress, boolean isOwn) {
            this.from = from;
            this.bytes = to - from;
            this.device = device;
            this.deviceAddress = deviceAddress;
            this.isOwn = isOwn;
        }

        /** Pages from one on, or fewer, if the user has pinned some of them. */
        static Range make(Gpu gpu, long from, long to) {
            long device = CudaException.check(CudaDevice.open(gpu.ordinal()), "cannot open " + gpu.id());
            try {
                long taken = CudaMemory.registerHost(device, from, to - from);
                if (taken == ALREADY_REGISTERED || taken == INVALID_VALUE) {
                    for (long page = from; page < to; page += PAGE_BYTES) {
                        long seen = seen(device, page);
                        if (seen >= 0) {
                            return page == from
                                    ? new Range(from, Math.min(to, from + pinnedBytes(seen)), device, seen, false)
                                    : new Range(from, page, device, pinned(device, from, page), true);
                        }
                    }
                }
                return new Range(from, to, device, CudaException.check(taken, cannotPin(to - from)), true);
            } catch (CudaException e) {
                CudaDevice.close(device);
                throw e;
            }
        }

        private static String cannotPin(long bytes) {
            return "cannot pin " + bytes + " bytes of the host";
        }

        private static long pinned(long device, long from, long to) {
            return CudaException.check(CudaMemory.registerHost(device, from, to - from), cannotPin(to - from));
        }

        /** Where a GPU sees a page that is pinned; negative if it is not. Memory that the user has pinned may begin within it. */
        private static long seen(long device, long page) {
            for (long at = 0; at < PAGE_BYTES; at += PAGE_BYTES - 1) {
                long seen = CudaMemory.hostAddress(device, page + at);
                if (seen >= 0 && MemoryFacts.of(seen).kind() == CudaMemory.KIND_HOST) {
                    return seen - at;
                }
            }
            return INVALID_VALUE;
        }

        /** How many bytes from a page on, which a GPU sees at an address, the user has pinned at once, in whole pages. */
        private static long pinnedBytes(long seen) {
            for (long at = seen; at < seen + PAGE_BYTES; at += PAGE_BYTES - 1) {
                MemoryFacts facts = MemoryFacts.of(at);
                if (facts.contains(at, 1)) {
                    return (facts.base() + facts.bytes() - seen + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
                }
            }
            return PAGE_BYTES;
        }

        long end() {
            return from + bytes;
        }

        boolean isLeaving() {
            return uses == 0;
        }

        void giveBack() {
            if (isOwn) {
                CudaMemory.unregisterHost(device, from);
            }
            CudaDevice.close(device);
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
            leave(ranges);
        }
    }

    /** The driver may take long to give pages back; who wants one of them waits, and no others. */
    private static void leave(List<Range> ranges) {
        List<Range> last = new ArrayList<>();
        synchronized (RANGES) {
            for (Range each : ranges) {
                each.uses--;
                if (each.isLeaving()) {
                    last.add(each);
                }
            }
        }
        for (Range each : last) {
            each.giveBack();
            synchronized (RANGES) {
                RANGES.remove(each.from);
                RANGES.notifyAll();
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
        List<Range> ranges = new ArrayList<>();
        try {
            for (long at = address / PAGE_BYTES * PAGE_BYTES;
                    at < to;
                    at = ranges.getLast().end()) {
                ranges.add(use(gpu, at, to));
            }
            Pin pin = new Pin(ranges);
            for (Range each : ranges) {
                if (pin.deviceAddress(each.from) != each.deviceAddress) {
                    throw new CudaException(
                            "GPUs see regions apart that share pages of the host", CudaException.NOT_SUPPORTED);
                }
            }
            return pin;
        } catch (CudaException e) {
            leave(ranges);
            throw e;
        }
    }

    /** The range that a page is in; a new one, up to the next or the end, if it is in none. */
    private static Range use(Gpu gpu, long at, long to) {
        synchronized (RANGES) {
            Map.Entry<Long, Range> before = RANGES.floorEntry(at);
            while (before != null
                    && at < before.getValue().end()
                    && before.getValue().isLeaving()) {
                try {
                    RANGES.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new CudaException("interrupted while the driver unpins memory", CudaException.DEINITIALIZED);
                }
                before = RANGES.floorEntry(at);
            }
            Range range;
            if (before != null && at < before.getValue().end()) {
                range = before.getValue();
            } else {
                Long next = RANGES.ceilingKey(at);
                range = Range.make(gpu, at, next == null ? to : Math.min(next, to));
                RANGES.put(at, range);
            }
            range.uses++;
            return range;
        }
    }
}
