package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.DeviceMetrics;
import io.sluice.engine.DeviceMetrics.Unit;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The metrics of an engine about the GPUs that it uses. */
class GpuMetricsTest {
    private static final int BYTES = 4 << 20;
    private static final int PAGE = 4096;

    private TransferEngine initiator;
    private TransferEngine target;
    private Connection connection;
    private RemoteRegion remote;

    @BeforeEach
    void open() {
        SoftGpu.load();
        initiator = engine();
        target = engine();
        connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion there = target.allocate(BYTES, RegionOptions.readWrite().on(MemoryKind.CUDA, SoftGpu.id(1)));
        remote = Patience.await(connection.attach(there.descriptor()));
    }

    @AfterEach
    void close() {
        Patience.await(initiator.closeAsync());
        Patience.await(target.closeAsync());
    }

    private static TransferEngine engine() {
        return TransferEngine.open(PatientOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .build());
    }

    private static DeviceMetrics gpu(TransferEngine engine, int ordinal) {
        return engine.metrics().devices().stream()
                .filter(device -> device.device().equals(SoftGpu.id(ordinal)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void workIsCountedByWhatCarriesItOut() {
        MemoryRegion local = initiator.allocate(BYTES, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0)));
        DeviceMetrics gpu = gpu(initiator, 0);
        assertThat(gpu.launches(Unit.COPY_ENGINE) + gpu.launches(Unit.KERNEL)).isZero();
        Patience.await(Ends.write(local, 0, remote, 0, BYTES));
        assertThat(gpu.launches(Unit.COPY_ENGINE)).isEqualTo(1);
        assertThat(gpu.bytes(Unit.COPY_ENGINE)).isEqualTo(BYTES);
        // adjoining ones would be one piece
        int[] pages = IntStream.range(0, 100).map(page -> 2 * page).toArray();
        Patience.await(Ends.pages(true, local, pages, remote, pages, PAGE));
        assertThat(gpu.launches(Unit.KERNEL)).isEqualTo(1);
        assertThat(gpu.bytes(Unit.KERNEL)).isEqualTo(100L * PAGE);
        assertThat(gpu.launches(Unit.COPY_ENGINE)).isEqualTo(1);
        assertThat(gpu.requests()).isEqualTo(2);
        assertThat(gpu.requestNanos()).isPositive();
        assertThat(gpu(initiator, 1).requests())
                .as("the other GPU only has the memory")
                .isZero();
        assertThat(gpu(target, 1).requests()).as("the target takes no part").isZero();
    }

    @Test
    void memoryIsCountedAsLongAsItIsThere() {
        DeviceMetrics gpu = gpu(initiator, 0);
        long before = gpu.allocatedBytes();
        MemoryRegion region =
                initiator.allocate(BYTES - 1, RegionOptions.local().on(MemoryKind.CUDA, SoftGpu.id(0)));
        assertThat(gpu.allocatedBytes() - before).as("in granules of 2 MiB").isEqualTo(BYTES);
        Patience.await(region.close());
        assertThat(gpu.allocatedBytes()).isEqualTo(before);
    }

    @Test
    void hostMemoryIsPinnedOnceAGpuTouchesIt() {
        MemoryRegion host = initiator.allocate(BYTES, RegionOptions.local());
        Patience.await(Ends.write(host, 0, remote, 0, PAGE));
        long pinned = pinned();
        assertThat(pinned).isGreaterThan(BYTES);
        Patience.await(host.close());
        assertThat(pinned - pinned()).isEqualTo(BYTES);
    }

    private long pinned() {
        return initiator.metrics().devices().stream()
                .mapToLong(DeviceMetrics::pinnedBytes)
                .sum();
    }
}
