package io.sluice.engine.transport.device;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.DeviceWords;
import io.sluice.engine.transport.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** The words of the device's memory. */
class DeviceRegistration implements RegisteredMemory, DeviceWords {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final RegionMemory memory;

    DeviceRegistration(RegionMemory memory) {
        this.memory = memory;
    }

    private MemorySegment bytes(long offset, long length) {
        if (!memory.isAlive()) {
            throw new IllegalStateException("the device's memory was freed");
        }
        return MemorySegment.ofAddress(memory.address() + offset).reinterpret(length);
    }

    @Override
    public long load(long offset) {
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
}
