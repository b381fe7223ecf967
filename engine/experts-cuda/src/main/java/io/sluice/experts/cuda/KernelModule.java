package io.sluice.experts.cuda;

import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuModule;
import io.sluice.cuda.GpuModuleException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The kernels of one of the {@code .cu} files, on one GPU. */
final class KernelModule {
    private static final Logger LOG = LoggerFactory.getLogger(KernelModule.class);

    private final GpuModule module;

    private KernelModule(GpuModule module) {
        this.module = module;
    }

    /**
     * Compiles them, if the driver has not kept what it made of them: that takes a while.
     *
     * @param names of source files without their ending: the first of those that the GPU and its driver take is used
     */
    static KernelModule load(String gpu, String... names) {
        int last = names.length - 1;
        for (int i = 0; i < last; i++) {
            try {
                return new KernelModule(GpuModule.load(gpu, ptx(names[i])));
            } catch (GpuModuleException e) {
                LOG.debug("{} takes no kernels of {}, and gets those of {}", gpu, names[i], names[i + 1], e);
            }
        }
        return new KernelModule(GpuModule.load(gpu, ptx(names[last])));
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
