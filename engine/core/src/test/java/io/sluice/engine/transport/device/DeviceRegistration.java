package io.sluice.engine.transport.device;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.DeviceWords;
import io.sluice.engine.transport.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The words of the device's memory: it counts the reads of them, which may be slow, and fail. */
final class DeviceRegistration implements RegisteredMemory, DeviceWords {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final Map<Long, DeviceRegistration> BY_ADDRESS = new ConcurrentHashMap<>();

    private final RegionMemory memory;
    private final AtomicLong loads = new AtomicLong();
    private volatile Duration slowness = Duration.ZERO;
    private volatile boolean broken;

    DeviceRegistration(RegionMemory memory) {
        this.memory = memory;
        BY_ADDRESS.put(memory.address(), this);
    }

    /** The latest of a region's. */
    static DeviceRegistration of(MemoryRegion region) {
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

    private MemorySegment bytes(long offset, long length) {
        if (!memory.isAlive()) {
            throw new IllegalStateException("the device's memory was freed");
        }
        return MemorySegment.ofAddress(memory.address() + offset).reinterpret(length);
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
        return (long) WORD.getVolatile(bytes(offset, Long.BYTES), 0L);
    }

    @Override
    public void store(long offset, long value) {
        WORD.setVolatile(bytes(offset, Long.BYTES), 0L, value);
    }

    @Override
    public long fetchAdd(long offset, long addend) {
        return (long) WORD.getAndAdd(bytes(offset, Long.BYTES), 0L, addend);
    }

    @Override
    public long compareAndSwap(long offset, long expected, long replacement) {
        return (long) WORD.compareAndExchange(bytes(offset, Long.BYTES), 0L, expected, replacement);
    }

    @Override
    public void copyOut(long offset, MemorySegment to) {
        to.copyFrom(bytes(offset, to.byteSize()));
    }

    @Override
    public long lockedBytes() {
        return 0;
    }

    @Override
    public void close() {
        BY_ADDRESS.remove(memory.address(), this);
    }
}
