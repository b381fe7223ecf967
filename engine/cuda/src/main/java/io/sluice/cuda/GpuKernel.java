package io.sluice.cuda;

import io.sluice.jni.CudaModule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A kernel of a {@link GpuModule}. Any thread. */
public final class GpuKernel {
    // what needs no permission
    private static final int SHARED_BYTES = 48 << 10;

    private final String gpu;
    private final String name;
    private final StreamUses uses;
    private final long module;
    private final long function;
    // of the parameters; null if the driver does not tell
    private final @Nullable List<Long> sizes;
    private int mostShared = SHARED_BYTES;

    GpuKernel(String gpu, String name, StreamUses uses, long module, long function, @Nullable List<Long> sizes) {
        this.gpu = gpu;
        this.name = name;
        this.uses = uses;
        this.module = module;
        this.function = function;
        this.sizes = sizes;
    }

    /**
     * Returns the kernel's name.
     *
     * @return as it was looked up
     */
    public String name() {
        return name;
    }

    /**
     * Returns the GPU.
     *
     * @return its stable id
     */
    public String device() {
        return gpu;
    }

    long function() {
        return function;
    }

    StreamUses uses() {
        return uses;
    }

    /** Refuses arguments that are not of its parameters, which the driver would read beyond. */
    void check(KernelArguments arguments) {
        List<Long> expected = sizes;
        if (expected != null && !expected.equals(arguments.sizes())) {
            throw new IllegalArgumentException(
                    "kernel %s has parameters of %s bytes, not of %s".formatted(name, expected, arguments.sizes()));
        }
    }

    /** Lets launches have so much dynamic shared memory. */
    synchronized void allow(int sharedBytes) {
        if (sharedBytes <= mostShared) {
            return;
        }
        uses.life().use();
        try {
            CudaException.check(
                    CudaModule.sharedBytes(module, function, sharedBytes),
                    "kernel %s cannot have %d bytes of shared memory".formatted(name, sharedBytes));
        } finally {
            uses.life().release();
        }
        mostShared = sharedBytes;
    }

    @Override
    public String toString() {
        return "kernel " + name + " of " + gpu;
    }
}
