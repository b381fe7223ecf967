package io.sluice.experts.cuda;

import io.sluice.cuda.GpuStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/** Events of a stream, and the device's time between them; of the host where the driver has no such clock. For one thread. */
final class DeviceClock {
    private final GpuStream stream;
    private final Arena arena = Arena.ofAuto();
    private final SymbolLookup driver;
    private final MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
    private final MethodHandle create;
    private final MethodHandle record;
    private final @Nullable MethodHandle elapsed;

    /** An event that was recorded. */
    record Mark(long event, long hostNanos) {}

    DeviceClock(GpuStream stream, int ordinal) {
        this.stream = stream;
        this.driver = SymbolLookup.libraryLookup(
                System.getProperty("sluice.cuda.library", "libcuda.so.1"), Arena.global());
        MethodHandle retain =
                function("cuDevicePrimaryCtxRetain", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        MethodHandle use = function("cuCtxSetCurrent", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
        this.create = function("cuEventCreate", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        this.record = function("cuEventRecord", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        this.elapsed = driver.find("cuEventElapsedTime")
                .map(symbol -> Linker.nativeLinker()
                        .downcallHandle(
                                symbol,
                                FunctionDescriptor.of(
                                        ValueLayout.JAVA_INT,
                                        ValueLayout.ADDRESS,
                                        ValueLayout.JAVA_LONG,
                                        ValueLayout.JAVA_LONG)))
                .orElse(null);
        try {
            check((int) retain.invokeExact(out, ordinal));
            check((int) use.invokeExact(out.get(ValueLayout.JAVA_LONG, 0)));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(driver.findOrThrow(name), type);
    }

    private static void check(int result) {
        if (result != 0) {
            throw new AssertionError("the driver says " + result);
        }
    }

    /** Whether times are the device's. */
    boolean isOfDevice() {
        return elapsed != null;
    }

    Mark mark() {
        try {
            check((int) create.invokeExact(out, 0));
            long event = out.get(ValueLayout.JAVA_LONG, 0);
            check((int) record.invokeExact(event, stream.handle()));
            return new Mark(event, System.nanoTime());
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Microseconds between two marks that the stream has passed. */
    double micros(Mark begin, Mark end) {
        MethodHandle of = elapsed;
        if (of == null) {
            return (end.hostNanos() - begin.hostNanos()) / 1e3;
        }
        try {
            check((int) of.invokeExact(out, begin.event(), end.event()));
            return out.get(ValueLayout.JAVA_FLOAT, 0) * 1e3;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
