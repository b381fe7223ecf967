package io.sluice.engine.transport.device;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Words whose reads are counted, and may be slow or fail, as a test wants it. */
final class WatchedRegistration extends DeviceRegistration {
    private static final Map<Long, WatchedRegistration> BY_ADDRESS = new ConcurrentHashMap<>();

    private final long address;
    private final AtomicLong loads = new AtomicLong();
    private volatile Duration slowness = Duration.ZERO;
    private volatile boolean broken;

    WatchedRegistration(RegionMemory memory) {
        super(memory);
        address = memory.address();
        BY_ADDRESS.put(address, this);
    }

    /** The latest of a region's. */
    static WatchedRegistration of(MemoryRegion region) {
        return Objects.requireNonNull(BY_ADDRESS.get(region.memory().address()));
    }

    /** How often words were read. */
    long loads() {
        return loads.get();
    }

    /** How long the read of a word takes from now on. */
    void slow(Duration each) {
        slowness = each;
    }

    /** From now on words cannot be read. */
    void breakDown() {
        broken = true;
    }

    @Override
    public long load(long offset) {
        if (broken) {
            throw new IllegalStateException("the device is broken, as the test wants it");
        }
        loads.incrementAndGet();
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < slowness.toNanos()) {
            Thread.onSpinWait();
        }
        return super.load(offset);
    }

    @Override
    public void close() {
        BY_ADDRESS.remove(address, this);
    }
}
