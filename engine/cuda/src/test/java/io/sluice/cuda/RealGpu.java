package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The machine's GPUs, where tests run on them: their memory as a program of the user's reaches it, by the driver's copies. */
final class RealGpu {
    private static final Gpus GPUS = new Gpus(1);
    private static final MethodHandle READ = SoftGpu.function(
            "cuMemcpyDtoH_v2",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle WRITE = SoftGpu.function(
            "cuMemcpyHtoD_v2",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle FILL = SoftGpu.function(
            "cuMemsetD8_v2",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_BYTE, ValueLayout.JAVA_LONG));
    private static final MethodHandle AWAIT =
            SoftGpu.function("cuStreamSynchronize", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

    private RealGpu() {}

    private static void use(int ordinal) {
        check(-CudaDevice.makeCurrent(GPUS.open(ordinal).device()));
    }

    private static void check(int result) {
        if (result != 0) {
            throw new IllegalStateException("the driver refuses it: " + CudaLibrary.errorText(-result));
        }
    }

    /** A copy. */
    static MemorySegment read(int ordinal, long address, long bytes) {
        MemorySegment copy = Arena.ofAuto().allocate(bytes);
        if (bytes > 0) {
            use(ordinal);
            try {
                check((int) READ.invokeExact(copy, address, bytes));
            } catch (RuntimeException e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }
        return copy;
    }

    static void write(int ordinal, long address, MemorySegment from) {
        if (from.byteSize() == 0) {
            return;
        }
        use(ordinal);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(from.byteSize()).copyFrom(from);
            check((int) WRITE.invokeExact(address, copy, from.byteSize()));
            // it returns once the bytes have left the host's memory
            check((int) AWAIT.invokeExact(MemorySegment.NULL));
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    static void fill(int ordinal, long address, long bytes, byte value) {
        if (bytes == 0) {
            return;
        }
        use(ordinal);
        try {
            check((int) FILL.invokeExact(address, value, bytes));
            check((int) AWAIT.invokeExact(MemorySegment.NULL));
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** As the owner's own code adds. */
    static long getAndAdd(int ordinal, long address, long addend) {
        return GPUS.open(ordinal).words().fetchAdd(address, addend);
    }
}
