package io.sluice.engine.memory;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.DeviceWords;
import io.sluice.engine.transport.MemoryChecksum;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The 64-bit words of a region, for atomic operations at the target, and the waits for them. Words of host memory are
 * accessed by the calling thread, others through a transport. The caller holds a lease; offsets are from the region's
 * start and have been checked. Thread-safe.
 */
final class RegionWords {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final RegionMemory memory;
    private final MemorySegment segment;
    private final @Nullable DeviceWords device;
    private final Runnable whenAwaited;
    private final SignalWaits waits;
    private final LongUnaryOperator reader = this::get;

    /**
     * Creates the words without waits.
     *
     * @param device access to words of device memory; null if there is none
     * @param whenAwaited run before the first wait registers, and after each for a word of a device
     */
    RegionWords(RegionMemory memory, @Nullable DeviceWords device, Runnable whenAwaited) {
        this.memory = memory;
        this.segment = memory.isHost() ? memory.segment() : MemorySegment.NULL;
        this.device = device;
        this.whenAwaited = whenAwaited;
        this.waits = new SignalWaits(whenAwaited);
    }

    /** Whether words can be accessed; if not, nothing else may be called. */
    boolean areReachable() {
        return device != null || memory.isHost();
    }

    /** Whether the words are in device memory, where changes go unnoticed unless they are polled. */
    boolean areOfADevice() {
        return device != null;
    }

    SignalWaits waits() {
        return waits;
    }

    /** Called when a wait has registered and read its word, so that it misses no earlier change. */
    void awaited() {
        if (device != null) {
            whenAwaited.run();
        }
    }

    boolean isAligned(long offset) {
        return (memory.address() + offset) % Long.BYTES == 0;
    }

    long get(long offset) {
        DeviceWords other = device;
        return other == null ? (long) WORD.getVolatile(segment, offset) : other.load(offset);
    }

    void set(long offset, long value) {
        DeviceWords other = device;
        if (other == null) {
            WORD.setVolatile(segment, offset, value);
        } else {
            other.store(offset, value);
        }
        waits.changed(offset, value);
    }

    /** Called when a peer has changed a word. */
    void changed(long offset) {
        waits.changed(offset, get(offset));
    }

    /** Called when peers may have changed any word. */
    void anyChanged() {
        waits.anyChanged(reader);
    }

    /** Looks for unnoticed changes, as {@link SignalWaits#look} does. */
    long look(long place, long until) {
        return waits.look(place, reader, until);
    }

    long fetchAdd(long offset, long addend) {
        DeviceWords other = device;
        long before = other == null ? (long) WORD.getAndAdd(segment, offset, addend) : other.fetchAdd(offset, addend);
        waits.changed(offset, before + addend);
        return before;
    }

    long compareAndSwap(long offset, long expected, long replacement) {
        DeviceWords other = device;
        long before = other == null
                ? (long) WORD.compareAndExchange(segment, offset, expected, replacement)
                : other.compareAndSwap(offset, expected, replacement);
        if (before == expected) {
            waits.changed(offset, replacement);
        }
        return before;
    }

    /** Continues a checksum over bytes of the region. */
    void addTo(MemoryChecksum sum, long offset, long length) {
        DeviceWords other = device;
        if (other == null) {
            sum.update(segment, offset, length);
        } else {
            sum.update(other, offset, length);
        }
    }
}
