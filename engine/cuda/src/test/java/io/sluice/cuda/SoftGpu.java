package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.CudaStream;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/** The GPUs in software that take libcuda's place in this virtual machine, and the memory that a program of the user's has there. */
final class SoftGpu {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final Path FILE = Path.of(System.getProperty("basedir", System.getProperty("user.dir")))
            .resolve("../../native/target/native-objects/libsoftgpu.so")
            .normalize();
    private static final SymbolLookup SYMBOLS;

    static {
        System.setProperty(Driver.LIBRARY_PROPERTY, FILE.toString());
        assertThat(Driver.unavailable()).isNull();
        SYMBOLS = SymbolLookup.libraryLookup(FILE, Arena.global());
    }

    private SoftGpu() {}

    /** Before any engine opens. */
    static void load() {
        // by the initialiser
    }

    static Path file() {
        return FILE;
    }

    static String id(int ordinal) {
        try (Gpus gpus = new Gpus(1)) {
            return gpus.id(ordinal);
        }
    }

    private static MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(SYMBOLS.findOrThrow(name), type);
    }

    private static long ok(long result) {
        assertThat(result).as(() -> CudaLibrary.errorText(result)).isNotNegative();
        return result;
    }

    static void delay(long nanoseconds) {
        try {
            function("soft_gpu_delay", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG)).invoke(nanoseconds);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    static void hang(boolean on) {
        try {
            function("soft_gpu_hang", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT)).invoke(on ? 1 : 0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    static long count(String what) {
        try (Arena arena = Arena.ofConfined()) {
            return (long) function(
                            "soft_gpu_count", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS))
                    .invoke(arena.allocateFrom(what));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** As {@code cudaMalloc}. */
    static long malloc(int ordinal, long bytes) {
        long device = ok(CudaDevice.open(ordinal));
        try (Arena arena = Arena.ofConfined()) {
            ok(CudaDevice.makeCurrent(device));
            MemorySegment address = arena.allocate(8, 8);
            int result = (int) function(
                            "cuMemAlloc_v2",
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG))
                    .invoke(address, bytes);
            assertThat(result).isZero();
            return address.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** As {@code cudaFree}. */
    static void free(int ordinal, long address) {
        long device = ok(CudaDevice.open(ordinal));
        try {
            ok(CudaDevice.makeCurrent(device));
            int result = (int) function(
                            "cuMemFree_v2", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG))
                    .invoke(address);
            assertThat(result).isZero();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** What memory of a GPU holds. */
    static byte[] read(int ordinal, long address, int bytes) {
        return copy(ordinal, address, new byte[bytes], false);
    }

    static void write(int ordinal, long address, byte[] bytes) {
        copy(ordinal, address, bytes, true);
    }

    private static byte[] copy(int ordinal, long address, byte[] bytes, boolean toDevice) {
        try (Gpus gpus = new Gpus(1)) {
            Gpu gpu = gpus.open(ordinal);
            long stream = gpu.newStream();
            try (PinnedMemory pinned = new PinnedMemory(gpu.device(), 128 + bytes.length)) {
                MemorySegment memory = pinned.segment();
                MemorySegment payload = memory.asSlice(128, bytes.length);
                payload.copyFrom(MemorySegment.ofArray(bytes));
                long here = pinned.deviceAddress() + 128;
                memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
                memory.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COPY);
                memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, toDevice ? address : here);
                memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, toDevice ? here : address);
                memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, bytes.length);
                memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_WORD_OFFSET, pinned.deviceAddress() + 120);
                memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_VALUE_OFFSET, 1);
                assertThat(CudaStream.submit(memory.address(), 1)).isEqualTo(1);
                Patience.until("the copy", () -> (long) WORD.getVolatile(memory, 120L) == 1);
                byte[] result = payload.toArray(ValueLayout.JAVA_BYTE);
                Patience.until("the stream", () -> CudaStream.query(stream) != CudaStream.NOT_READY);
                return result;
            } finally {
                CudaStream.destroy(stream);
            }
        }
    }
}
