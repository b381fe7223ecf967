package io.sluice.experts.cuda;

import io.sluice.cuda.GpuStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Events of a stream, and the device's time between them; in software, which has no such clock, that of giving work to the stream. For one thread. */
final class DeviceClock {
    private final GpuStream stream;
    private final Arena arena = Arena.ofAuto();
    private final SymbolLookup driver;
    private final MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
    private final MethodHandle create;
    private final MethodHandle record;
    private final MethodHandle destroy;
    private final @Nullable MethodHandle elapsed;
    private final List<Long> events = new ArrayList<>();

    /** An event that was recorded. */
    record Mark(long event, long hostNanos) {}

    DeviceClock(GpuStream stream, int ordinal) {
        this.stream = stream;
        this.driver =
                SymbolLookup.libraryLookup(System.getProperty("sluice.cuda.library", "libcuda.so.1"), Arena.global());
        MethodHandle retain = function(
                "cuDevicePrimaryCtxRetain",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        MethodHandle use =
                function("cuCtxSetCurrent", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
        this.create = function(
                "cuEventCreate",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        this.record = function(
                "cuEventRecord",
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        this.destroy =
                function("cuEventDestroy_v2", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
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
        if (elapsed == null) {
            return new Mark(0, System.nanoTime());
        }
        try {
            check((int) create.invokeExact(out, 0));
            long event = out.get(ValueLayout.JAVA_LONG, 0);
            check((int) record.invokeExact(event, stream.handle()));
            events.add(event);
            return new Mark(event, 0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Gives back all events. */
    void clear() {
        try {
            for (long event : events) {
                check((int) destroy.invokeExact(event));
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        events.clear();
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
