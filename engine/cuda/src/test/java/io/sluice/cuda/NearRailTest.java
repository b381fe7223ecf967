package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two rails: bytes of a GPU take the one behind its own PCI switch, those of the host both. */
@DisabledIfSystemProperty(
        named = "sluice.cuda.real",
        matches = "true",
        disabledReason = "adapters in software do not reach it")
class NearRailTest {
    private static final int BYTES = 1 << 20;
    private static final int ROUNDS = 16;
    private static final int RAILS = 2;
    private static final int HOST = -1;

    private final List<TransferEngine> engines = new ArrayList<>();
    private final Random random = new Random(6);

    @TempDir
    private Path system;

    @BeforeEach
    void places() throws IOException {
        SoftRdma.load();
        Files.createDirectories(system.resolve("bus/pci/devices"));
        // the second adapter is at the first GPU
        for (int gpu = 0; gpu < RAILS; gpu++) {
            String address = GpuInfo.pciAddress(gpu);
            String root = "pci0000:%d0/0000:%d0:01.0".formatted(gpu, gpu);
            Files.createSymbolicLink(system.resolve("bus/pci/devices").resolve(address), device(root + "/" + address));
            Path adapter = system.resolve("class/infiniband/soft" + (1 - gpu));
            Files.createSymbolicLink(
                    Files.createDirectories(adapter).resolve("device"), device(root + "/0000:%d9:00.0".formatted(gpu)));
        }
        System.setProperty(PciTree.SYSTEM_PROPERTY, system.toString());
    }

    private Path device(String path) throws IOException {
        Path device = Files.createDirectories(system.resolve("devices").resolve(path));
        Files.writeString(device.resolve("numa_node"), "0\n");
        return device;
    }

    @AfterEach
    void close() {
        System.clearProperty(PciTree.SYSTEM_PROPERTY);
        engines.forEach(engine -> Patience.await(engine.closeAsync()));
    }

    private TransferEngine engine(String devices, int lanes) {
        TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                .environment(Map.of(
                        "SLUICE_TRANSPORTS",
                        "verbs," + DistantCudaTransportProvider.NAME,
                        "SLUICE_VERBS_DEVICES",
                        devices,
                        "SLUICE_LANES",
                        String.valueOf(lanes)))
                .build());
        engines.add(engine);
        return engine;
    }

    private static MemoryRegion region(TransferEngine engine, int place, RegionOptions options) {
        return engine.allocate(BYTES, place == HOST ? options : options.on(MemoryKind.CUDA, SoftGpu.id(place)));
    }

    private static long[] moved() {
        return IntStream.range(0, RAILS).mapToLong(SoftRdma::bytes).toArray();
    }

    /** Returns how many bytes each rail has moved for writes and reads between two places. */
    private long[] move(int here, int there, int lanes) {
        return move(here, there, "soft0,soft1", lanes);
    }

    private long[] move(int here, int there, String devices, int lanes) {
        TransferEngine initiator = engine(devices, lanes);
        TransferEngine target = engine(devices, lanes);
        Connection connection = Patience.await(initiator.connect(target.address()));
        MemoryRegion local = region(initiator, here, RegionOptions.local());
        RemoteRegion remote = Patience.await(connection.attach(
                region(target, there, RegionOptions.readWrite()).descriptor()));
        long[] before = moved();
        for (int i = 0; i < ROUNDS; i++) {
            int at = random.nextInt(BYTES / 2);
            Patience.await(Ends.write(local, at, remote, at, BYTES / 2));
            Patience.await(Ends.read(local, at, remote, at, BYTES / 2));
        }
        long[] after = moved();
        return IntStream.range(0, RAILS)
                .mapToLong(rail -> after[rail] - before[rail])
                .toArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void bytes_of_a_gpu_take_the_rail_that_is_nearest(int lanes) {
        long least = (long) ROUNDS * BYTES;
        for (int gpu = 0; gpu < RAILS; gpu++) {
            int near = 1 - gpu;
            for (int[] pair : new int[][] {{gpu, HOST}, {HOST, gpu}, {gpu, gpu}}) {
                long[] moved = move(pair[0], pair[1], lanes);
                assertThat(moved[near]).as(Arrays.toString(pair)).isGreaterThanOrEqualTo(least);
                // what is not of a region
                assertThat(moved[1 - near]).as(Arrays.toString(pair)).isLessThan(BYTES / 2);
            }
        }
    }

    @Test
    void info_names_it() {
        for (int gpu = 0; gpu < RAILS; gpu++) {
            assertThat(GpuInfo.all().get(gpu).rdmaDevice())
                    .isEqualTo(new GpuInfo.NearDevice("soft" + (1 - gpu), "behind the same PCI switch"));
        }
    }

    @Test
    void bytes_of_the_host_take_all_rails() {
        for (long bytes : move(HOST, HOST, 2)) {
            assertThat(bytes).isGreaterThan(BYTES);
        }
    }

    @Test
    void the_default_device_is_that_nearest_to_a_gpu() throws IOException {
        // behind no GPU's switch
        Path device = system.resolve("class/infiniband/soft0/device");
        Files.delete(device);
        Files.createSymbolicLink(device, device("pci0000:90/0000:90:01.0/0000:91:00.0"));
        long[] moved = move(HOST, HOST, "auto", 1);
        assertThat(moved[0]).isZero();
        assertThat(moved[1]).isGreaterThanOrEqualTo((long) ROUNDS * BYTES);
    }

    @Test
    void without_places_all_rails_are_as_near() throws IOException {
        Files.delete(system.resolve("class/infiniband/soft0/device"));
        Files.delete(system.resolve("class/infiniband/soft1/device"));
        for (long bytes : move(0, 1, 2)) {
            assertThat(bytes).isGreaterThan(BYTES);
        }
    }
}
