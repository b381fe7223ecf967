package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many regions attached at once, and one region many times. */
class ManyRegionsTest {
    private static final int REGIONS = 1000;
    private static final long BYTES = 4096;

    private static long mappings() {
        return ProcessResources.mappings("sluice-region");
    }

    private static ShmPair pair() {
        return ShmPair.open(
                ShmOptions.builder(),
                BYTES,
                (EngineOptions.Builder options) -> options.maxAttachedRegions(2 * REGIONS));
    }

    @Test
    void manyAreAttachedInOneCallAndDetached() {
        ProcessResources outside = ProcessResources.now();
        try (ShmPair pair = pair()) {
            List<MemoryRegion> regions = new ArrayList<>();
            for (int i = 0; i < REGIONS; i++) {
                regions.add(pair.target().allocate(BYTES, RegionOptions.readWrite()));
            }
            ProcessResources before = ProcessResources.now();
            for (int round = 0; round < 2; round++) {
                List<RemoteRegion> attached = Patience.await(pair.connection()
                        .attach(regions.stream().map(MemoryRegion::descriptor).toList()));
                assertThat(attached).hasSize(REGIONS);
                assertThat(mappings()).isEqualTo(before.regionMappings() + REGIONS);
                Patience.until(
                        "the files are not kept open by the process that maps them",
                        () -> ProcessResources.now().descriptors() <= before.descriptors());
                writeToEach(pair, attached);
                for (int i = 0; i < REGIONS; i++) {
                    assertThat(regions.get(i).segment().get(ValueLayout.JAVA_LONG, 0))
                            .isEqualTo(i + 1);
                }
                Patience.await(CompletableFuture.allOf(
                        attached.stream().map(pair.connection()::detach).toArray(CompletableFuture[]::new)));
                before.assertRegained();
            }
            Patience.await(CompletableFuture.allOf(
                    regions.stream().map(MemoryRegion::close).toArray(CompletableFuture[]::new)));
        }
        outside.assertRegained();
    }

    private static void writeToEach(ShmPair pair, List<RemoteRegion> attached) {
        AtomicInteger written = new AtomicInteger();
        for (int i = 0; i < attached.size(); i++) {
            pair.local().segment().set(ValueLayout.JAVA_LONG, 0, i + 1);
            pair.connection()
                    .write(pair.local(), 0, attached.get(i), 0, 8, TransferOptions.defaults(), (transfer, error) -> {
                        if (error == null) {
                            written.incrementAndGet();
                        }
                    });
        }
        assertThat(written).hasValue(attached.size());
    }

    @Test
    void slicesOfOneRegionAreMappedOnce() {
        try (ShmPair pair = pair()) {
            MemoryRegion region = pair.target().allocate(8 * BYTES, RegionOptions.readWrite());
            long before = mappings();
            List<RegionDescriptor> slices = List.of(
                    region.descriptor(),
                    region.descriptor(),
                    region.slice(BYTES, BYTES).descriptor(),
                    region.slice(100, 8).descriptor());
            List<RemoteRegion> together = Patience.await(pair.connection().attach(slices));
            RemoteRegion later = Patience.await(
                    pair.connection().attach(region.slice(2 * BYTES, BYTES).descriptor()));
            assertThat(mappings()).isEqualTo(before + 1);

            pair.local().segment().set(ValueLayout.JAVA_LONG, 0, 77);
            pair.connection().write(pair.local(), 0, later, 8, 8, TransferOptions.defaults(), (transfer, error) -> {});
            assertThat(region.segment().get(ValueLayout.JAVA_LONG, 2 * BYTES + 8))
                    .isEqualTo(77);
            pair.connection()
                    .write(pair.local(), 0, together.get(2), 0, 8, TransferOptions.defaults(), (transfer, error) -> {});
            assertThat(region.segment().get(ValueLayout.JAVA_LONG, BYTES)).isEqualTo(77);

            for (RemoteRegion each : together) {
                Patience.await(pair.connection().detach(each));
                assertThat(mappings()).as("while one is attached").isEqualTo(before + 1);
            }
            Patience.await(pair.connection().detach(later));
            Patience.until("the last unmaps it", () -> mappings() == before);
            Patience.await(region.close());
        }
    }

    @Test
    void regionThatClosesIsUnmappedByBoth() {
        try (ShmPair pair = pair()) {
            long before = mappings();
            MemoryRegion region = pair.target().allocate(BYTES, RegionOptions.readWrite());
            Patience.await(pair.connection().attach(List.of(region.descriptor(), region.descriptor())));
            assertThat(mappings()).isEqualTo(before + 2);
            Patience.await(region.close());
            Patience.until("both have unmapped it", () -> mappings() == before);
        }
    }

    /** The target has ended the attachment already, and has heard that it is not used any more. */
    @Test
    void regionIsDetachedAfterItHasClosed() {
        try (ShmPair pair = pair()) {
            MemoryRegion region = pair.target().allocate(BYTES, RegionOptions.readWrite());
            RemoteRegion remote = Patience.await(pair.connection().attach(region.descriptor()));
            Patience.await(region.close());
            Patience.await(pair.connection().detach(remote));
            Patience.await(pair.connection().quiet());
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
            Patience.await(pair.connection()
                    .attach(pair.target()
                            .allocate(BYTES, RegionOptions.readWrite())
                            .descriptor()));
        }
    }

    @Test
    void regionsAreClosedWhileTheyAreAttached() {
        ProcessResources outside = ProcessResources.now();
        try (ShmPair pair = pair()) {
            long before = mappings();
            for (int round = 0; round < 50; round++) {
                List<MemoryRegion> regions = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    regions.add(pair.target().allocate(BYTES, RegionOptions.readWrite()));
                }
                CompletableFuture<List<RemoteRegion>> attached = pair.connection()
                        .attach(regions.stream().map(MemoryRegion::descriptor).toList());
                CompletableFuture<?>[] closed =
                        regions.stream().map(MemoryRegion::close).toArray(CompletableFuture[]::new);
                // attached or refused: it ends
                Patience.await(attached.handle((list, error) -> true));
                Patience.await(CompletableFuture.allOf(closed));
            }
            Patience.until("all are unmapped", () -> mappings() == before);
            assertThat(pair.connection().state()).isEqualTo(ConnectionState.OPEN);
        }
        outside.assertRegained();
    }
}
