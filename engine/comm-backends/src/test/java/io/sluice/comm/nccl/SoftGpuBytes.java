package io.sluice.comm.nccl;

import io.sluice.comm.StandIns;
import io.sluice.comm.rounds.Gpu;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.contract.ContractBytes;
import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.OwnMemory;
import io.sluice.jni.CudaDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The contract's memory: that of the GPU in software that an engine's NCCL has. */
final class SoftGpuBytes implements ContractMemory {
    private static final String GPU = "SLUICE_NCCL_GPU";
    private static final SymbolLookup SYMBOLS =
            SymbolLookup.libraryLookup(System.getProperty("sluice.cuda.library"), Arena.global());
    private static final MethodHandle BYTES = function(
            "soft_gpu_bytes",
            FunctionDescriptor.of(
                    ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle ALLOCATE = function(
            "cuMemAlloc_v2", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    private static final MethodHandle FREE =
            function("cuMemFree_v2", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));

    SoftGpuBytes() {
        // loads the stand-ins
        StandIns.count(StandIns.NCCL, "soft_nccl_count", "groups");
    }

    private static MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(SYMBOLS.findOrThrow(name), type);
    }

    private static int ordinal(TransferEngine engine) {
        return Integer.parseInt(engine.options()
                .variables("SLUICE_NCCL_")
                .getOrDefault(GPU, "0")
                .strip());
    }

    private static RegionOptions on(int ordinal, RegionOptions options) {
        return options.on(MemoryKind.CUDA, Gpu.id(ordinal));
    }

    @Override
    public boolean isHost() {
        return false;
    }

    @Override
    public MemoryRegion allocate(TransferEngine engine, long bytes, RegionOptions options) {
        return engine.allocate(bytes, on(ordinal(engine), options));
    }

    @Override
    public OwnMemory own(long bytes, long alignment) {
        return new Own(bytes);
    }

    @Override
    public ContractBytes bytes(MemoryRegion region) {
        RegionMemory memory = region.memory();
        if (memory.isHost()) {
            return ContractBytes.of(region.segment());
        }
        return bytes(Gpu.id(0).equals(memory.device()) ? 0 : 1, memory.address(), memory.length());
    }

    private static ContractBytes bytes(int ordinal, long address, long length) {
        try {
            MemorySegment found = (MemorySegment) BYTES.invokeExact(ordinal, address, length);
            if (found.address() == 0) {
                throw new IllegalStateException("the GPU's memory was freed");
            }
            return ContractBytes.of(found.reinterpret(length));
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** As of {@code cudaMalloc}, on the GPU of the engine that it is registered with, or of the target. */
    static final class Own implements OwnMemory {
        private final long bytes;
        private final AtomicBoolean open = new AtomicBoolean(true);
        private int ordinal = 1;
        private @Nullable Long address;

        Own(long bytes) {
            this.bytes = bytes;
        }

        long made() {
            Long before = address;
            if (before != null) {
                return before;
            }
            try (Arena arena = Arena.ofConfined()) {
                makeCurrent();
                MemorySegment written = arena.allocate(8, 8);
                if ((int) ALLOCATE.invokeExact(written, bytes) != 0) {
                    throw new IllegalStateException("no memory");
                }
                long now = written.get(ValueLayout.JAVA_LONG, 0);
                address = now;
                return now;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }

        private void makeCurrent() {
            CudaDevice.makeCurrent(CudaDevice.open(ordinal));
        }

        @Override
        public ContractBytes bytes() {
            return SoftGpuBytes.bytes(ordinal, made(), bytes);
        }

        @Override
        public MemoryRegion register(TransferEngine engine, RegionOptions options) {
            if (address == null) {
                ordinal = ordinal(engine);
            }
            return engine.register(
                    RegionMemory.device(MemoryKind.CUDA, Gpu.id(ordinal), made(), bytes, open::get),
                    on(ordinal, options));
        }

        @Override
        public void close() {
            open.set(false);
            try {
                if (address != null) {
                    makeCurrent();
                    if ((int) FREE.invokeExact((long) address) != 0) {
                        throw new IllegalStateException("memory is not freed");
                    }
                }
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }
    }
}
