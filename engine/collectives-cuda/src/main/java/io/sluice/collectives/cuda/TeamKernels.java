package io.sluice.collectives.cuda;

import io.sluice.collectives.ElementType;
import io.sluice.cuda.GpuKernel;
import io.sluice.cuda.GpuModule;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** The kernels of {@code collectives.cu}, on one GPU. */
final class TeamKernels {
    private static final String RESOURCE = "/META-INF/sluice/collectives.ptx";

    private final GpuModule module;
    private final GpuKernel exchange;
    private final GpuKernel copy;
    private final Map<ElementType, GpuKernel> reducingExchanges = new EnumMap<>(ElementType.class);
    private final Map<ElementType, GpuKernel> pushes = new EnumMap<>(ElementType.class);
    private final Map<ElementType, GpuKernel> reductions = new EnumMap<>(ElementType.class);

    private TeamKernels(GpuModule module) {
        this.module = module;
        this.exchange = module.kernel("sluice_exchange");
        this.copy = module.kernel("sluice_copy_to_ranks");
        for (ElementType type : ElementType.values()) {
            String name = type.name().toLowerCase(Locale.ROOT);
            reducingExchanges.put(type, module.kernel("sluice_exchange_" + name));
            pushes.put(type, module.kernel("sluice_push_" + name));
            reductions.put(type, module.kernel("sluice_reduce_" + name));
        }
    }

    /** Compiles them, if the driver has not kept what it made of them: that takes seconds. */
    static TeamKernels load(String gpu) {
        GpuModule module = GpuModule.load(gpu, ptx());
        try {
            return new TeamKernels(module);
        } catch (RuntimeException | Error e) {
            module.close();
            throw e;
        }
    }

    static byte[] ptx() {
        try (InputStream from = Objects.requireNonNull(
                TeamKernels.class.getResourceAsStream(RESOURCE), () -> RESOURCE + " is not among the classes")) {
            return from.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + RESOURCE, e);
        }
    }

    GpuKernel exchange() {
        return exchange;
    }

    GpuKernel exchange(ElementType type) {
        return Objects.requireNonNull(reducingExchanges.get(type));
    }

    GpuKernel push(ElementType type) {
        return Objects.requireNonNull(pushes.get(type));
    }

    GpuKernel copy() {
        return copy;
    }

    GpuKernel reduce(ElementType type) {
        return Objects.requireNonNull(reductions.get(type));
    }

    CompletableFuture<Void> close() {
        module.close();
        return module.released();
    }
}
