package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.cuda.GpuInfo;
import io.sluice.cuda.GpuInfo.Link;
import io.sluice.cuda.GpuInfo.LinkKind;
import io.sluice.cuda.GpuInfo.NearDevice;
import io.sluice.engine.TransportStatus;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class InfoCommandTest {

    @Test
    void jsonHasVersionMachineAndTransports() throws IOException {
        JsonNode json = new ObjectMapper().readTree(run("--json"));
        assertThat(json.get("version").asText()).isNotEmpty();
        JsonNode machine = json.get("machine");
        assertThat(machine.get("kernel").asText()).isNotEmpty();
        assertThat(machine.get("cpu_model").asText()).isNotEmpty();
        assertThat(machine.get("processors").asInt()).isPositive();
        assertThat(machine.get("memory_bytes").asLong()).isPositive();
        assertThat(machine.get("locked_memory_limit_bytes").asLong()).isGreaterThanOrEqualTo(-1);
        assertThat(machine.get("page_bytes").asInt()).isGreaterThanOrEqualTo(4096);
        assertThat(machine.get("jvm").asText()).contains("25");
        assertThat(json.get("transports")).anySatisfy(transport -> {
            assertThat(transport.get("name").asText()).isEqualTo("tcp");
            assertThat(transport.get("available").asBoolean()).isTrue();
            assertThat(transport.get("reason").isNull()).isTrue();
        });
    }

    @Test
    void theTextSaysTheSameForPeople() {
        assertThat(run())
                .contains("sluice", "kernel", "processor", "lockable memory", "page size", "JVM", "tcp")
                .contains("available");
    }

    @Test
    void whatIsMissingAndWhatToDoIsSaid() {
        ProgramReport report = new ProgramReport(
                "1",
                new ProgramReport.MachineReport(
                        "6.1", null, 2, 1, null, ProgramReport.MachineReport.NO_LIMIT, null, "VM 25"),
                List.of(ProgramReport.TransportReport.of(
                        new TransportStatus("verbs", "no device; install rdma-core", null))),
                List.of());
        assertThat(report.toText())
                .contains("verbs            not available: no device; install rdma-core", "unknown", "no limit");
        assertThat(report.toJson())
                .contains("{\"name\":\"verbs\",\"available\":false,\"reason\":\"no device; install"
                        + " rdma-core\",\"devices\":[]}");
    }

    @Test
    void gpusAreShownWithTheirLinks() throws IOException {
        GpuInfo one = new GpuInfo(
                0,
                "GPU-1",
                "H100",
                80L << 30,
                "0000:3b:00.0",
                List.of(new Link(1, LinkKind.NVLINK), new Link(2, LinkKind.PCIE), new Link(3, LinkKind.NONE)),
                true,
                new NearDevice("mlx5_2", "behind the same PCI switch"));
        GpuInfo other = new GpuInfo(1, "GPU-2", "H100", 80L << 30, "0000:3c:00.0", List.of(), false, null);
        ProgramReport report = new ProgramReport(
                "1",
                ProgramReport.MachineReport.current(),
                List.of(),
                List.of(ProgramReport.GpuReport.of(one), ProgramReport.GpuReport.of(other)));
        assertThat(report.toText())
                .contains("GPUs", "cuda:0           H100, 80 GiB, PCI 0000:3b:00.0", "GPU-1")
                .contains("to cuda:1: NVLink, peer access", "to cuda:2: PCIe, peer access", "to cuda:3: no peer access")
                .contains(
                        "DMA buffers, nearest RDMA device: mlx5_2, behind the same PCI switch",
                        "no DMA buffers, no RDMA device");
        JsonNode gpu = new ObjectMapper().readTree(report.toJson()).get("gpus").get(0);
        assertThat(gpu.get("name").asText()).isEqualTo("cuda:0");
        assertThat(gpu.get("id").asText()).isEqualTo("GPU-1");
        assertThat(gpu.get("memory_bytes").asLong()).isEqualTo(80L << 30);
        assertThat(gpu.get("links").get(0).get("kind").asText()).isEqualTo("nvlink");
        assertThat(gpu.get("dma_buffers").asBoolean()).isTrue();
        assertThat(gpu.get("rdma_device").asText()).isEqualTo("mlx5_2");
    }

    private static String run(String... arguments) {
        StringWriter out = new StringWriter();
        int status =
                new CommandLine(new InfoCommand()).setOut(new PrintWriter(out)).execute(arguments);
        assertThat(status).isZero();
        return out.toString();
    }
}
