package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.contract.ContractBytes;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The GPUs in software that take libcuda's place in this virtual machine, and the memory that a program of the user's has there. With
 * {@code -Dsluice.cuda.real=true} they are the machine's, of which there must be two: nothing is counted then, and tests that change
 * how GPUs behave end as aborted.
 */
final class SoftGpu {
    private static final Path FILE = Path.of(System.getProperty("basedir", System.getProperty("user.dir")))
            .resolve("../../native/target/native-objects/libsoftgpu.so")
            .normalize();
    private static final String REAL_PROPERTY = "sluice.cuda.real";
    private static final boolean IS_REAL = Boolean.getBoolean(REAL_PROPERTY);
    private static final int PORTABLE_AND_MAPPED = 3;
    private static final int QUEUES = 32;
    /** A machine's GPU makes and destroys a context in tenths of a second. */
    private static final int REAL_ROUNDS = 8;

    private static final SymbolLookup SYMBOLS;

    static {
        if (!IS_REAL) {
            System.setProperty(Driver.LIBRARY_PROPERTY, FILE.toString());
        }
        assertThat(Driver.unavailable()).isNull();
        SYMBOLS = SymbolLookup.libraryLookup(library(), Arena.global());
    }

    private SoftGpu() {}

    /** Before any engine opens. */
    static void load() {
        // by the initialiser
    }

    private static String library() {
        return System.getProperty(Driver.LIBRARY_PROPERTY, "libcuda.so.1");
    }

    /** The options by which another virtual machine uses the same GPUs, unless they are in software. */
    static List<String> javaOptions() {
        return IS_REAL
                ? List.of("-D" + REAL_PROPERTY + "=true", "-D" + Driver.LIBRARY_PROPERTY + "=" + library())
                : List.of();
    }

    static Path file() {
        return FILE;
    }

    static String id(int ordinal) {
        try (Gpus gpus = new Gpus(1)) {
            return gpus.id(ordinal);
        }
    }

    static MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(SYMBOLS.findOrThrow(name), type);
    }

    private static long ok(long result) {
        assertThat(result).as(() -> CudaLibrary.errorText(result)).isNotNegative();
        return result;
    }

    /** The longest random delay before each operation of a stream. */
    static void delay(long nanoseconds) {
        if (!IS_REAL) {
            set("soft_gpu_delay", nanoseconds);
        }
    }

    /** Streams do nothing, until they are let go on. */
    static void hang(boolean on) {
        set("soft_gpu_hang", on ? 1 : 0);
    }

    /** One operation fails after so many, and from then on all of this process. */
    static void failAfter(long operations) {
        set("soft_gpu_fault_after", operations);
    }

    /** Modules are loaded, memory is pinned and unmapped once the kernels have ended that run: as real ones do. */
    static void awaitKernels(boolean on) {
        if (!IS_REAL) {
            set("soft_gpu_await_kernels", on ? 1 : 0);
        }
    }

    /**
     * Ends a test as aborted on the machine's GPUs, before it has begun anything that a GPU in software alone can end.
     *
     * @param what makes it so
     */
    static void needSoftware(String what) {
        assumeTrue(!IS_REAL, what + " takes a GPU in software");
    }

    /** How often a test opens and closes what has contexts. */
    static int rounds(int inSoftware) {
        return IS_REAL ? Math.min(inSoftware, REAL_ROUNDS) : inSoftware;
    }

    /** Skips a test whose streams wait: real ones that share a queue of the driver's wait for each other. */
    static void needQueues() {
        String connections = System.getenv().getOrDefault("CUDA_DEVICE_MAX_CONNECTIONS", "8");
        assumeTrue(
                !IS_REAL || Integer.parseInt(connections) >= QUEUES,
                "CUDA_DEVICE_MAX_CONNECTIONS is " + connections + ", not " + QUEUES);
    }

    /** Makes the driver refuse memory that other processes export. */
    static void refuseImports(boolean on) {
        set("soft_gpu_refuse_import", on ? 1 : 0);
    }

    /** Memory of the host cannot be pinned. */
    static void refusePins(boolean on) {
        set("soft_gpu_refuse_pins", on ? 1 : 0);
    }

    /** {@link #malloc} gives memory of a pool: no process opens it, and no GPU but its own reaches it. */
    static void pools(boolean on) {
        set("soft_gpu_pools", on ? 1 : 0);
    }

    /** After so many copies so many are not taken. */
    static void refuseCopies(long after, long count) {
        set("soft_gpu_refuse_copies", after, count);
    }

    /** As GPUs over PCIe, for engines that open after this. */
    static void refusePeerAtomics(boolean on) {
        set("soft_gpu_refuse_peer_atomics", on ? 1 : 0);
    }

    /** No memory is exported to adapters. */
    static void refuseDmaBuffers(boolean on) {
        set("soft_gpu_refuse_dma_buffers", on ? 1 : 0);
    }

    /**
     * Sets the driver's attributes about writes of adapters.
     *
     * @param ordering 0 for none, 100 for that of the GPU
     * @param ways how they are flushed: bit 0 by the host, bit 1 by a stream
     */
    static void rdma(long ordering, long ways) {
        set("soft_gpu_rdma", ordering, ways);
    }

    private static void set(String name, long... values) {
        if (IS_REAL) {
            assumeTrue(Arrays.stream(values).allMatch(value -> value == 0), name + " takes a GPU in software");
            return;
        }
        ValueLayout[] types = new ValueLayout[values.length];
        Arrays.fill(types, ValueLayout.JAVA_LONG);
        try {
            function(name, FunctionDescriptor.ofVoid(types))
                    .invokeWithArguments(Arrays.stream(values).boxed().toList());
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** 0 of real ones, unless {@code counting_driver.c} is before their driver. */
    static long count(String what) {
        if (SYMBOLS.find("soft_gpu_count").isEmpty()) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            return (long) function("soft_gpu_count", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS))
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
            long made = address.get(ValueLayout.JAVA_LONG, 0);
            if (IS_REAL) {
                RealGpu.fill(ordinal, made, bytes, (byte) 0);
            }
            return made;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** As {@code cudaFree}. */
    static void free(int ordinal, long address) {
        long device = ok(CudaDevice.open(ordinal));
        try {
            ok(CudaDevice.makeCurrent(device));
            int result =
                    (int) function("cuMemFree_v2", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG))
                            .invoke(address);
            assertThat(result).isZero();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** As {@code cudaHostRegister}. */
    static void pinHost(MemorySegment memory) {
        hostCall(
                function(
                        "cuMemHostRegister_v2",
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_INT)),
                memory,
                memory.byteSize(),
                PORTABLE_AND_MAPPED);
    }

    /** As {@code cudaHostUnregister}. */
    static void unpinHost(MemorySegment memory) {
        hostCall(
                function("cuMemHostUnregister", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS)),
                memory);
    }

    private static void hostCall(MethodHandle call, Object... arguments) {
        ok(CudaDevice.makeCurrent(ok(CudaDevice.open(0))));
        try {
            assertThat((int) call.invokeWithArguments(arguments)).isZero();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** The bytes that a GPU has at an address, as long as they are allocated. */
    static ContractBytes bytes(int ordinal, long address, long bytes) {
        return IS_REAL
                ? new RealGpuBytes(ordinal, address, bytes)
                : ContractBytes.of(contents(ordinal, address, bytes));
    }

    private static MemorySegment contents(int ordinal, long address, long bytes) {
        try {
            MemorySegment found = (MemorySegment) function(
                            "soft_gpu_bytes",
                            FunctionDescriptor.of(
                                    ValueLayout.ADDRESS,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_LONG))
                    .invoke(ordinal, address, bytes);
            if (found.address() == 0) {
                throw new IllegalStateException("the GPU's memory was freed");
            }
            return found.reinterpret(bytes);
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a copy of a GPU's memory. */
    static byte[] read(int ordinal, long address, int bytes) {
        MemorySegment found = IS_REAL ? RealGpu.read(ordinal, address, bytes) : contents(ordinal, address, bytes);
        return found.toArray(ValueLayout.JAVA_BYTE);
    }

    static void write(int ordinal, long address, byte[] bytes) {
        bytes(ordinal, address, bytes.length).write(0, MemorySegment.ofArray(bytes));
    }
}
