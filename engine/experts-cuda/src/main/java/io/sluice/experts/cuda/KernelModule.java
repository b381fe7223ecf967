package io.sluice.experts.cuda;

import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuModule;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** The kernels of one of the {@code .cu} files, on one GPU. */
final class KernelModule {
    private final GpuModule module;

    private KernelModule(GpuModule module) {
        this.module = module;
    }

    /**
     * Compiles them, if the driver has not kept what it made of them: that takes a while.
     *
     * @param name of the source file, without its ending
     */
    static KernelModule load(String gpu, String name) {
        return new KernelModule(GpuModule.load(gpu, ptx(name)));
    }

    static byte[] ptx(String name) {
        String resource = "/META-INF/sluice/experts_" + name + ".ptx";
        try (InputStream from = Objects.requireNonNull(
                KernelModule.class.getResourceAsStream(resource), () -> resource + " is not among the classes")) {
            return from.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + resource, e);
        }
    }

    GpuKernel kernel(String name) {
        return module.kernel(name);
    }

    CompletableFuture<Void> close() {
        module.close();
        return module.released();
    }
}
