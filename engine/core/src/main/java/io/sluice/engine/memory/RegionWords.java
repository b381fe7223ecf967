package io.sluice.engine.memory;

import io.sluice.engine.RegionMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.function.LongUnaryOperator;

/**
 * The 64-bit words of a region, for atomic operations by this host's processor, and those who wait for them. Whoever calls
 * holds a lease; offsets are from the region's start and have been checked. Any thread.
 */
final class RegionWords {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment segment;
    private final SignalWaits waits;
    private final LongUnaryOperator reader = this::get;

    RegionWords(RegionMemory memory, Runnable whenAwaited) {
        // other memory has no words that could be asked for
        this.segment = memory.isHost() ? memory.segment() : MemorySegment.NULL;
        this.waits = new SignalWaits(whenAwaited);
    }

    SignalWaits waits() {
        return waits;
    }

    boolean isAligned(long offset) {
        return (segment.address() + offset) % Long.BYTES == 0;
    }

    long get(long offset) {
        return (long) WORD.getVolatile(segment, offset);
    }

    void set(long offset, long value) {
        WORD.setVolatile(segment, offset, value);
        waits.changed(offset, value);
    }

    /** Somebody else has changed a word. */
    void changed(long offset) {
        waits.changed(offset, get(offset));
    }

    /** Somebody else may have changed any word. */
    void anyChanged() {
        waits.anyChanged(reader);
    }

    long fetchAdd(long offset, long addend) {
        long before = (long) WORD.getAndAdd(segment, offset, addend);
        waits.changed(offset, before + addend);
        return before;
    }

    long compareAndSwap(long offset, long expected, long replacement) {
        long before = (long) WORD.compareAndExchange(segment, offset, expected, replacement);
        if (before == expected) {
            waits.changed(offset, replacement);
        }
        return before;
    }
}
