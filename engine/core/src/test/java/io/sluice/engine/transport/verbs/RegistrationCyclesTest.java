package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Extent;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Regions, connections and engines come and go, and leave nothing behind. */
@Tag("verbs")
@Tag("softroce")
class RegistrationCyclesTest {
    private static final int BYTES = 64 << 10;
    // a cost that grew with what was registered before would be more than this in the end
    private static final double MUCH_SLOWER = 4;

    private static EngineOptions.Builder options() {
        return VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1)).options();
    }

    /**
     * The kernel's count of this process's locked memory, in KiB; softRoCE's drivers pin pages that it counts
     * elsewhere.
     */
    private static long lockedKibibytes() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmLck:") || line.startsWith("VmPin:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The time without disturbance: a busy machine makes many of them slower, and none faster. */
    private static long undisturbed(List<Long> nanos) {
        List<Long> sorted = new ArrayList<>(nanos);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 20);
    }

    @Test
    @Tag("softroce-long")
    void thousandsOfRegistrationsLeaveNothingAndStayAsFast() {
        try (VerbsPair pair = VerbsPair.open(both -> {})) {
            MemoryRegion source = pair.local(BYTES);
            long regionBytes = pair.target().metrics().regionBytes();
            int descriptors = OpenDescriptors.count();
            int cycles = TestDevices.rounds(Extent.of(600, 4000));
            int warmUp = cycles / 4;
            long locked = -1;
            List<Long> early = new ArrayList<>();
            List<Long> late = new ArrayList<>();
            for (int i = 0; i < cycles; i++) {
                if (i == warmUp) {
                    locked = lockedKibibytes();
                }
                long start = System.nanoTime();
                MemoryRegion region = pair.served(BYTES);
                long registered = System.nanoTime() - start;
                if (i % 10 == 0) {
                    RemoteRegion remote = pair.attach(region);
                    pair.write(source, 0, remote, 0, BYTES).awaitSuccess();
                }
                start = System.nanoTime();
                Patience.await(region.close());
                long both = registered + System.nanoTime() - start;
                if (i >= warmUp && i < 2 * warmUp) {
                    early.add(both);
                } else if (i >= cycles - warmUp) {
                    late.add(both);
                }
            }
            assertThat(lockedKibibytes()).as("locked KiB").isLessThanOrEqualTo(locked);
            assertThat(pair.target().metrics().regionBytes()).isEqualTo(regionBytes);
            OpenDescriptors.assertSettleAt(descriptors);
            assertThat((double) undisturbed(late) / undisturbed(early))
                    .as("late cycles against early ones")
                    .isLessThan(MUCH_SLOWER);
        }
    }

    @Test
    @Tag("softroce-long")
    void connectionsAndEnginesLeaveNothing() {
        // what is loaded once stays
        VerbsPair.open(both -> {}).close();
        Resources before = Resources.now();
        for (int round = 0; round < TestDevices.rounds(10); round++) {
            try (VerbsPair pair = VerbsPair.open(both -> both.lanes(2).pollers(2))) {
                for (int i = 0; i < 5; i++) {
                    MixedLoad load = MixedLoad.silent(pair).start();
                    load.awaitProgress(10);
                    load.stopAndCheck();
                    Patience.await(Patience.await(
                                    pair.initiator().connect(pair.target().address()))
                            .close());
                }
            }
        }
        before.assertSettled();
    }

    @Test
    void engineThatIsClosedUnderLoadLeavesNothing() {
        VerbsPair.open(both -> {}).close();
        Resources before = Resources.now();
        for (int round = 0; round < TestDevices.rounds(10); round++) {
            VerbsPair pair = VerbsPair.open(both -> both.lanes(2));
            MixedLoad load = MixedLoad.of(pair).start();
            MixedLoad back = MixedLoad.back(pair).start();
            load.awaitProgress(20);
            pair.close();
            load.awaitEnd();
            back.awaitEnd();
        }
        before.assertSettled();
    }

    @Test
    void engineThatCannotBeOpenedLeavesNothing() {
        TransferEngine.open(options().build()).close();
        Resources before = Resources.now();
        for (int i = 0; i < 20; i++) {
            try {
                TransferEngine.open(options()
                        .transport(VerbsOptions.builder()
                                .devices(TestDevices.get(0), TestDevices.get(1))
                                .gidIndex(200)
                                .build())
                        .build());
                throw new AssertionError("there is no GID 200");
            } catch (RuntimeException expected) {
                assertThat(expected).hasMessageContaining("200");
            }
        }
        before.assertSettled();
    }

    /** Regions of a local engine do not fill up anything either. */
    @Test
    void manyRegionsAtOnce() {
        Resources before;
        try (TransferEngine engine = TransferEngine.open(options().build())) {
            before = Resources.now();
            List<MemoryRegion> regions = new ArrayList<>();
            for (int i = 0; i < TestDevices.rounds(1000); i++) {
                regions.add(engine.allocate(4096, RegionOptions.readWrite()));
            }
            regions.forEach(region -> Patience.await(region.close()));
            before.assertSettled();
        }
    }
}
