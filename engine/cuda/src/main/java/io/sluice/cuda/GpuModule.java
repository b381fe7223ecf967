package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaModule;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Kernels of a program of the user's, loaded on one GPU. Any thread, but no poller: the driver takes milliseconds, and to compile PTX
 * seconds.
 */
public final class GpuModule implements AutoCloseable {
    private static final int LOG_BYTES = 16 << 10;

    private final String gpu;
    private final long module;
    private final StreamUses uses;

    private GpuModule(String gpu, long device, long module) {
        this.gpu = gpu;
        this.module = module;
        this.uses = new StreamUses("a module of " + gpu, () -> {
            CudaModule.unload(module);
            CudaDevice.close(device);
        });
    }

    /**
     * Loads a module.
     *
     * @param gpu the stable id of the GPU, such as {@code GPU-8c7a1d2e-…}
     * @param image PTX as text of ASCII, which the driver compiles for the GPU, or a cubin or fatbin for it
     * @return the module
     * @throws GpuModuleException if the driver does not load it, with what its compiler says
     * @throws CudaException if the GPU cannot be opened, as after an error that stays with the process
     * @throws IllegalArgumentException if this process does not see the GPU
     * @throws io.sluice.engine.TransportUnavailableException if this process has no CUDA driver
     */
    public static GpuModule load(String gpu, byte[] image) {
        long device = UserDevice.open(gpu);
        try (Arena arena = Arena.ofConfined()) {
            // the zero behind it ends PTX
            MemorySegment bytes = arena.allocate(image.length + 1L, Long.BYTES);
            MemorySegment.copy(image, 0, bytes, ValueLayout.JAVA_BYTE, 0, image.length);
            MemorySegment log = arena.allocate(LOG_BYTES);
            long module = CudaModule.compile(device, bytes.address(), log.address(), LOG_BYTES);
            if (module < 0) {
                throw new GpuModuleException("cannot load the module on " + gpu, module, log.getString(0));
            }
            return new GpuModule(gpu, device, module);
        } catch (RuntimeException | Error e) {
            CudaDevice.close(device);
            throw e;
        }
    }

    /**
     * Returns the GPU.
     *
     * @return its stable id
     */
    public String device() {
        return gpu;
    }

    /**
     * Finds a kernel.
     *
     * @param name of its entry in PTX: that of {@code extern "C"} in CUDA C
     * @return the kernel, as long as this is open
     * @throws GpuModuleException if the module has none of that name
     * @throws GpuClosedException if this is closed
     */
    public GpuKernel kernel(String name) {
        uses.life().use();
        try (Arena arena = Arena.ofConfined()) {
            long function = CudaModule.function(module, arena.allocateFrom(name).address());
            if (function < 0) {
                throw new GpuModuleException("no kernel " + name + " in a module of " + gpu, function, "");
            }
            return new GpuKernel(gpu, name, uses, module, function, parameters(function));
        } finally {
            uses.life().release();
        }
    }

    /** The sizes of a kernel's parameters; null if the driver does not tell them. */
    private @Nullable List<Long> parameters(long function) {
        List<Long> sizes = new ArrayList<>();
        long bytes;
        while ((bytes = CudaModule.parameter(module, function, sizes.size())) > 0) {
            sizes.add(bytes);
        }
        return bytes == CudaException.NOT_SUPPORTED ? null : sizes;
    }

    /** Refuses further launches of its kernels, and unloads it once those that were submitted are done; returns before that. */
    @Override
    public void close() {
        uses.close();
    }

    /**
     * Returns when the module is unloaded.
     *
     * @return completes after {@link #close}
     */
    public CompletableFuture<Void> released() {
        return uses.released();
    }

    @Override
    public String toString() {
        return uses.life().what();
    }
}
