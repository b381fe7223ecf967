package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.cuda.GpuInfo;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.ExpertOptions;
import io.sluice.testkit.Patience;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Memory that cannot be used is given back. */
class OwnRegionTest {
    private static final RegionOptions OPTIONS = RegionOptions.readOnly()
            .on(MemoryKind.CUDA, GpuInfo.all().getFirst().id());

    /** Passes calls on, and what is allocated through a function. */
    private static TransferEngine allocating(TransferEngine engine, UnaryOperator<MemoryRegion> change) {
        return (TransferEngine) Proxy.newProxyInstance(
                OwnRegionTest.class.getClassLoader(),
                new Class<?>[] {TransferEngine.class},
                (proxy, method, arguments) -> {
                    try {
                        Object value = method.invoke(engine, arguments);
                        return method.getName().equals("allocate") ? change.apply((MemoryRegion) value) : value;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** A region of which kernels cannot use the memory, as nothing can lease it. */
    private static MemoryRegion notLeased(MemoryRegion region) {
        return (MemoryRegion) Proxy.newProxyInstance(
                OwnRegionTest.class.getClassLoader(),
                new Class<?>[] {MemoryRegion.class},
                (proxy, method, arguments) -> method.invoke(region, arguments));
    }

    @Test
    void a_region_that_cannot_be_mapped_is_closed() {
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(1)) {
            List<MemoryRegion> allocated = new ArrayList<>();
            TransferEngine engine = allocating(ranks.engine(0), region -> {
                allocated.add(region);
                return notLeased(region);
            });
            assertThatThrownBy(() -> new OwnRegion(engine, OPTIONS, 1 << 16))
                    .isInstanceOf(IllegalArgumentException.class);
            LowLatencyLayout layout = new LowLatencyLayout(
                    ExpertOptions.experts(4).hidden(128).maxTokensPerRank(4).topK(2), 1);
            assertThatThrownBy(() -> new LowLatencyResultMemory(
                            engine, GpuInfo.all().getFirst().id(), layout, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(allocated).hasSize(2).noneMatch(MemoryRegion::isOpen);
            allocated.forEach(region -> Patience.await(region.close()));
        }
    }
}
