package io.sluice.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.cuda.GpuInfo.Link;
import io.sluice.cuda.GpuInfo.LinkKind;
import io.sluice.cuda.GpuInfo.NearDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuInfoTest {

    private static final String BRIDGE = "pci0000:00/0000:00:01.0/0000:01:00.0";

    @TempDir
    private Path system;

    @BeforeAll
    static void gpus() {
        SoftGpu.load();
    }

    @BeforeEach
    void folders() throws IOException {
        Files.createDirectories(system.resolve("bus/pci/devices"));
    }

    @Test
    void tellsWhatThereIsAndHowItIsLinked() {
        List<GpuInfo> all = GpuInfo.all();
        assertThat(all).hasSizeGreaterThanOrEqualTo(2);
        for (GpuInfo gpu : all) {
            assertThat(gpu.id()).isEqualTo(SoftGpu.id(gpu.ordinal())).startsWith("GPU-");
            assertThat(gpu.name()).isNotBlank();
            assertThat(gpu.memoryBytes()).isGreaterThan(1L << 30);
            assertThat(gpu.pciAddress()).matches("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
            assertThat(gpu.links()).hasSize(all.size() - 1).noneMatch(link -> link.peer() == gpu.ordinal());
        }
        assertThat(all.getFirst().links()).contains(new Link(1, LinkKind.NVLINK));
    }

    @Test
    void withoutNativeAtomicOperationsTheLinkIsPcie() {
        SoftGpu.refusePeerAtomics(true);
        try {
            assertThat(GpuInfo.all().getFirst().links()).contains(new Link(1, LinkKind.PCIE));
        } finally {
            SoftGpu.refusePeerAtomics(false);
        }
    }

    @Test
    void theNearestRdmaDeviceIsThatBehindTheSameSwitch() throws IOException {
        function("0000:03:00.0", BRIDGE + "/0000:02:00.0/0000:03:00.0", "0");
        rdma("mlx5_0", "pci0000:00/0000:00:02.0/0000:09:00.0", "0");
        rdma("mlx5_1", BRIDGE + "/0000:02:01.0/0000:04:00.0", "0");
        assertThat(nearest("0000:03:00.0")).isEqualTo(new NearDevice("mlx5_1", "behind the same PCI switch"));
    }

    @Test
    void elseThatAtTheSameHostBridgeThenThatOfTheSameNode() throws IOException {
        function("0000:03:00.0", BRIDGE + "/0000:03:00.0", "1");
        rdma("mlx5_0", "pci0000:40/0000:40:01.0/0000:41:00.0", "0");
        assertThat(nearest("0000:03:00.0")).isEqualTo(new NearDevice("mlx5_0", "at another NUMA node"));
        rdma("mlx5_1", "pci0000:80/0000:80:01.0/0000:81:00.0", "1");
        assertThat(nearest("0000:03:00.0")).isEqualTo(new NearDevice("mlx5_1", "at the same NUMA node"));
        rdma("mlx5_2", "pci0000:00/0000:00:02.0/0000:09:00.0", "1");
        assertThat(nearest("0000:03:00.0")).isEqualTo(new NearDevice("mlx5_2", "at the same host bridge"));
    }

    @Test
    void whatHasNoPlaceIsNotNear() throws IOException {
        function("0000:03:00.0", BRIDGE + "/0000:03:00.0", "1");
        assertThat(nearest("0000:03:00.0")).isNull();
        // RDMA in software is on no bus
        Files.createDirectories(system.resolve("class/infiniband/rxe0"));
        assertThat(nearest("0000:03:00.0")).isNull();
        assertThat(nearest("0000:77:00.0")).isNull();
    }

    @Test
    void addressesAreWrittenAsTheSystemDoes() {
        assertThat(PciTree.address("00000000:3B:00.0")).isEqualTo("0000:3b:00.0");
        assertThat(PciTree.address("0001:3b:00.0")).isEqualTo("0001:3b:00.0");
        assertThat(PciTree.address("00010000:3b:00.0")).isEqualTo("00010000:3b:00.0");
    }

    private @Nullable NearDevice nearest(String address) {
        return new PciTree(system).nearestRdmaDevice(address);
    }

    private void function(String address, String path, String node) throws IOException {
        Path device = device(path, node);
        Files.createSymbolicLink(system.resolve("bus/pci/devices").resolve(address), device);
    }

    private void rdma(String name, String path, String node) throws IOException {
        Path folder = Files.createDirectories(system.resolve("class/infiniband").resolve(name));
        Files.createSymbolicLink(folder.resolve("device"), device(path, node));
    }

    private Path device(String path, String node) throws IOException {
        Path device = Files.createDirectories(system.resolve("devices").resolve(path));
        Files.writeString(device.resolve("numa_node"), node + "\n");
        return device;
    }
}
