package io.sluice.samples.bench;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Copies by C's {@code memcpy} what transfers have moved, in their order: what they could reach at most. */
final class PlainCopies {

    /** How much is copied between two looks at the clock. */
    private static final long LOOK_BYTES = 1 << 20;

    private static final MethodHandle MEMCPY = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().findOrThrow("memcpy"),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG));

    private final Layout layout;
    private final MemorySegment local;
    private final MemorySegment remote;
    private final boolean read;
    private final BooleanSupplier interrupted;
    private long copies;
    private long nanos;

    /**
     * Between the ranges of a connection.
     *
     * @param local memory of this side
     * @param remote memory of the serving side, mapped here
     * @param read whether to copy to this side
     * @param interrupted whether to break off
     */
    PlainCopies(Layout layout, MemorySegment local, MemorySegment remote, boolean read, BooleanSupplier interrupted) {
        this.layout = layout;
        this.local = local;
        this.remote = remote;
        this.read = read;
        this.interrupted = interrupted;
    }

    /** Copies for a time, on from where it has stopped. */
    void copyFor(Duration time) {
        long batch = Math.max(1, LOOK_BYTES / layout.size());
        long began = System.nanoTime();
        long elapsed;
        do {
            if (interrupted.getAsBoolean()) {
                throw BenchException.failed("interrupted");
            }
            for (long i = 0; i < batch; i++) {
                copy((int) (copies % layout.targets()));
                copies++;
            }
            elapsed = System.nanoTime() - began;
        } while (elapsed < time.toNanos());
        nanos += elapsed;
    }

    /** Forgets what it has copied until now. */
    void reset() {
        copies = 0;
        nanos = 0;
    }

    /** What it has copied, in units of 10<sup>9</sup> bytes a second. */
    double gigabytesPerSecond() {
        return (double) copies * layout.size() / nanos;
    }

    /** The ranges lie within both regions, which stay as long as this does. */
    private void copy(int element) {
        long here = local.address() + layout.localOffset(element);
        long there = remote.address() + layout.remoteOffset(element);
        try {
            long ignored = (long) MEMCPY.invokeExact(read ? here : there, read ? there : here, layout.size());
        } catch (Throwable e) {
            throw new IllegalStateException("memcpy does not fail", e);
        }
    }
}
