package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.bench.BenchCollective;
import io.sluice.samples.compare.GpuRun.Way;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The C program for GPUs, on the software GPU. */
class GpuRunTest {

    private static final Path SOFTWARE_GPU = Path.of("../native/target/native-objects/libsoftgpu.so");
    private static final int PAGES = 100;

    private static BenchEnvironment workbench;

    @BeforeAll
    static void build() throws Exception {
        Assumptions.assumeTrue(Program.GPU.isPresent(), "no C compiler");
        Timing timing = new Timing(1, Duration.ofMillis(20), Duration.ofMillis(5));
        workbench = BenchEnvironment.open(
                timing, new Pinning(List.of(), List.of(), List.of(), true), arguments -> arguments, () -> false);
        BaselineBuild.build(CProgram.GPU, workbench.folder(), List.of("-O1"), () -> false);
    }

    @AfterAll
    static void discard() throws IOException {
        if (workbench != null) {
            workbench.close();
        }
    }

    static Stream<List<String>> modes() {
        return Stream.of(
                List.of("copy", "8", "1"),
                List.of("copy", "5000001", "4"),
                List.of("--handle", "copy", "70000", "2"),
                List.of("both-ways", "70001", "4"),
                List.of("pages-copies", "4096", "100", "1"),
                List.of("pages-batch", "4096", "100", "4"),
                List.of("pages-kernel", "PTX", "16", "5000", "100", "4"),
                List.of("--handle", "pages-kernel", "PTX", "16", "4096", "1", "1"),
                List.of("to-device", "3000000", "2"),
                List.of("from-device", "3000000", "2"));
    }

    /** The program compares what has arrived with what was sent, and fails where it differs. */
    @ParameterizedTest
    @MethodSource("modes")
    void measuresWhatItMoves(List<String> mode) throws Exception {
        String printed = run(softwareGpu("2"), mode);
        BaselineRun.BaselineOutput output = BaselineRun.BaselineOutput.of(printed);
        assertThat(output.operations()).isPositive();
        assertThat(output.nanos())
                .isGreaterThanOrEqualTo(workbench.timing().duration().toNanos());
        assertThat(output.medianMicros() > 0).isEqualTo(mode.getLast().equals("1"));
        assertThat(printed).contains("\"op\":\"" + mode.get(mode.getFirst().startsWith("--") ? 1 : 0) + "\"");
    }

    @Test
    void theMeasurementsNameWhatTheProgramKnows() throws Exception {
        for (GpuRun measurement : List.of(
                GpuRun.copy(1 << 20, 1),
                GpuRun.toDevice(1 << 20, 2),
                GpuRun.fromDevice(1 << 20, 2),
                GpuRun.nccl(1 << 20, 1),
                GpuRun.pages(Way.COPIES, 4096, PAGES, 1),
                GpuRun.pages(Way.BATCH, 4096, PAGES, 1),
                GpuRun.pages(Way.KERNEL, 4096, PAGES, 4))) {
            List<String> operands = new ArrayList<>(measurement.operands());
            operands.replaceAll(operand -> operand.equals("kernels.ptx") ? "PTX" : operand);
            if (measurement.program() == Program.NCCL) {
                assertNotAvailable(operands, "no NCCL");
            } else {
                assertThat(run(softwareGpu("2"), operands)).contains("\"inflight\":" + measurement.inflight());
            }
        }
    }

    private static void assertNotAvailable(List<String> operands, String why) {
        Map<String, String> environment = Map.of(
                "SLUICE_CUDA_LIBRARY",
                softwareGpu("2").get("SLUICE_CUDA_LIBRARY"),
                "SLUICE_NCCL_LIBRARY",
                "libno-such-nccl.so");
        assertThatThrownBy(() -> run(environment, operands))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("status 69: gpu: " + why);
    }

    @Test
    void collectivesNameWhatTheProgramKnows() throws Exception {
        for (BenchCollective collective : List.of(
                BenchCollective.ALLREDUCE,
                BenchCollective.REDUCESCATTER,
                BenchCollective.ALLGATHER,
                BenchCollective.BROADCAST,
                BenchCollective.ALLTOALL)) {
            NcclCollectives measurement = new NcclCollectives(new GpuCollectives(collective, 4096, 20));
            assertThat(measurement.program()).isEqualTo(Program.NCCL);
            assertNotAvailable(measurement.operands(), "no NCCL");
        }
        Figures figures = new NcclCollectives(new GpuCollectives(BenchCollective.ALLREDUCE, 4000, 0))
                .figures("{\"op\":\"allreduce\",\"median_nanos\":12000,\"device_nanos\":8000.0}");
        assertThat(figures.values())
                .containsEntry(Quantity.DEVICE_MICROSECONDS, 8.0)
                .containsEntry(Quantity.MEDIAN_MICROSECONDS, 12.0)
                .containsEntry(Quantity.BUS_GIGABYTES_PER_SECOND, 0.5);
        Figures own = new OwnGpuCollectives(new GpuCollectives(BenchCollective.ALLTOALL, 4000, 20))
                .figures("{\"errors\":0,\"verified\":true,\"device_us\":8.0,\"latency_us\":{\"p50\":150.5}}");
        assertThat(own.values())
                .containsEntry(Quantity.DEVICE_MICROSECONDS, 8.0)
                .containsEntry(Quantity.MEDIAN_MICROSECONDS, 150.5)
                .containsEntry(Quantity.BUS_GIGABYTES_PER_SECOND, 0.25);
    }

    @Test
    void twoGpusAreNeeded() {
        assertThatThrownBy(() -> run(softwareGpu("1"), List.of("copy", "8", "1")))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("status 69: gpu: too few GPUs: it takes 2, and there is 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"copy", "to-device", "nccl", "both-ways", "alltoall"})
    void withoutADriverItSaysSo(String mode) {
        assertThatThrownBy(() -> run(Map.of("SLUICE_CUDA_LIBRARY", "libno-such-cuda.so"), List.of(mode, "8", "1")))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("status 69: gpu: no CUDA driver: libno-such-cuda.so");
    }

    @ParameterizedTest
    @MethodSource("wrongArguments")
    void wrongArgumentsAreNamed(List<String> arguments) {
        List<String> command = Pinning.command(List.of(workbench.program(CProgram.GPU)), arguments);
        assertThatThrownBy(() -> workbench.runAlone("gpu", Map.of(), command))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("status 2");
    }

    static Stream<List<String>> wrongArguments() {
        return Stream.of(
                List.of(),
                List.of("copy", "0", "1", "0", "1"),
                List.of("dance", "1", "1", "0", "1"),
                List.of("allreduce", "8", "101", "0", "1"),
                List.of("pages-copies", "4096", "0", "1", "0", "1"),
                List.of("pages-kernel", "PTX", "0", "4096", "1", "1", "0", "1"),
                List.of("pages-batch", "17179869184", "2", "1", "0", "1"));
    }

    private static Map<String, String> softwareGpu(String devices) {
        Assumptions.assumeTrue(Files.exists(SOFTWARE_GPU), "no software GPU: the module native has not been built");
        return Map.of("SLUICE_CUDA_LIBRARY", SOFTWARE_GPU.toAbsolutePath().toString(), "SOFT_GPU_DEVICES", devices);
    }

    private static String run(Map<String, String> environment, List<String> operands)
            throws MeasurementFailedException {
        String kernels = Path.of("../native/src/main/resources/META-INF/sluice/kernels.ptx")
                .toAbsolutePath()
                .toString();
        List<String> command = new ArrayList<>(List.of(workbench.program(CProgram.GPU)));
        operands.forEach(operand -> command.add(operand.equals("PTX") ? kernels : operand));
        command.addAll(List.of(
                Long.toString(workbench.timing().warmup().toMillis()),
                Long.toString(workbench.timing().duration().toMillis())));
        return workbench.runAlone("gpu", environment, command);
    }
}
