package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bench command with experts as its users run it: a process for each rank. */
class BenchExpertsTest {
    private static final int HEADER_BYTES = 16;
    private static final int HIDDEN = 512;
    private static final int SCALES_BYTES = HIDDEN / 128 * Float.BYTES;

    @TempDir
    private Path folder;

    @Test
    void measuresAndVerifiesLowLatency() throws IOException {
        JsonNode line = measure(
                "low-latency", "--ranks", "3", "--experts-total", "12", "--transport", "shm", "--fp8", "--verify");
        assertPlausible(line, "low-latency", 3, "shm");
        assertThat(line.get("fp8").asBoolean()).isTrue();
        assertThat(line.get("verified").asBoolean()).isTrue();
        int chosen = 20 * 3;
        assertThat(line.get("dispatch_bytes").asDouble()).isEqualTo(chosen * (HEADER_BYTES + HIDDEN + SCALES_BYTES));
        assertThat(line.get("combine_bytes").asDouble()).isEqualTo(chosen * 2 * HIDDEN);
    }

    @Test
    @Tag("soak")
    void measuresAndVerifiesNormalMode() throws IOException {
        JsonNode line = measure(
                "normal",
                "--ranks",
                "2",
                "--experts-total",
                "8",
                "--backend",
                "sluice",
                "--transport",
                "tcp",
                "--fp8",
                "--verify");
        assertPlausible(line, "normal", 2, "tcp");
        assertThat(line.get("verified").asBoolean()).isTrue();
        // each token goes to one rank, or to both
        assertThat(line.get("combine_bytes").asDouble()).isBetween(20.0 * 2 * HIDDEN, 2 * 20.0 * 2 * HIDDEN);
        assertThat(line.get("dispatch_bytes").asDouble()
                        / line.get("combine_bytes").asDouble())
                .isEqualTo((HIDDEN + SCALES_BYTES) / (2.0 * HIDDEN));
    }

    @Test
    @Tag("soak")
    void aloneItDispatchesToItself() throws IOException {
        JsonNode line = measure("normal", "--ranks", "1", "--experts-total", "4", "--transport", "tcp");
        // the engine has a connection to itself
        assertPlausible(line, "normal", 1, "tcp");
        assertThat(line.get("verified").isNull()).isTrue();
        assertThat(line.get("dispatch_bytes").asDouble()).isEqualTo(20 * 2 * HIDDEN);
    }

    @Test
    void anUnknownBackEndIsNamed() throws IOException {
        try (SluiceProcess bench =
                SluiceProcess.run(folder, arguments("low-latency", "--experts-total", "4", "--backend", "pigeon"))) {
            assertThat(bench.awaitEnd()).as(bench::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(bench.err())
                    .contains("no communication back end 'pigeon'; there are sluice, nccl, nvshmem")
                    .doesNotContain("\tat ");
        }
    }

    /** Over what stands in for NCCL, on the software GPU: each process has a GPU and the library for itself. */
    @Test
    @Tag("soak")
    void measuresAndVerifiesOverNccl() throws IOException {
        Path objects =
                Path.of("../native/target/native-objects").toAbsolutePath().normalize();
        Path stand = objects.resolve("libsoftnccl.so");
        Assumptions.assumeTrue(Files.exists(stand), "no stand-in for NCCL: the module native has not been built");
        Path json = folder.resolve("out.json");
        Map<String, String> environment = Map.of(
                "SLUICE_NCCL_LIBRARY",
                stand.toString(),
                "SOFT_GPU_DEVICES",
                "2",
                "JDK_JAVA_OPTIONS",
                "-Dsluice.cuda.library=" + objects.resolve("libsoftgpu.so"));
        String[] options = {
            "--experts-total",
            "4",
            "--ranks",
            "2",
            "--backend",
            "nccl",
            "--transport",
            "shm",
            "--duration",
            BenchProgramTest.millis(10),
            "--json",
            json.toString(),
            "--verify"
        };
        try (SluiceProcess bench = SluiceProcess.start(folder, environment, arguments("low-latency", options))) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            JsonNode line = SluiceProcess.jsonLines(Files.readString(json)).getFirst();
            assertThat(line.get("backend").asText()).isEqualTo("nccl");
            assertThat(line.get("ranks").asInt()).isEqualTo(2);
            assertThat(line.get("verified").asBoolean()).isTrue();
            assertThat(line.get("errors").asLong()).isZero();
        }
    }

    @Test
    @Tag("soak")
    void aBackEndWhoseLibraryIsMissingSaysSo() throws IOException {
        try (SluiceProcess bench = SluiceProcess.start(
                folder,
                Map.of("SLUICE_NCCL_LIBRARY", "libnccl-absent.so.2"),
                arguments("low-latency", "--experts-total", "4", "--backend", "nccl"))) {
            assertThat(bench.awaitEnd()).as(bench::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(bench.err()).contains("libnccl-absent.so.2").doesNotContain("\tat ");
        }
    }

    @Test
    @Tag("soak")
    void endsAllItsProcessesWhenItIsInterrupted() throws IOException {
        try (SluiceProcess bench =
                SluiceProcess.start(folder, arguments("low-latency", "--experts-total", "4", "--duration", "5m"))) {
            ProcessHandle other = bench.awaitChild();
            bench.signal("INT");
            assertThat(bench.awaitEnd()).as(bench::toString).isEqualTo(130);
            Awaitility.await().atMost(SluiceProcess.BOUND).until(() -> !other.isAlive());
        }
    }

    private static void assertPlausible(JsonNode line, String mode, int ranks, String transport) {
        assertThat(line.get("mode").asText()).isEqualTo(mode);
        assertThat(line.get("ranks").asInt()).isEqualTo(ranks);
        assertThat(line.get("transport").asText()).isEqualTo(transport);
        assertThat(line.get("backend").asText()).isEqualTo("sluice");
        assertThat(line.get("memory").asText()).isEqualTo("host");
        assertThat(line.get("device_round_us").isNull()).isTrue();
        assertThat(line.get("tokens").asInt()).isEqualTo(20);
        assertThat(line.get("hidden").asInt()).isEqualTo(HIDDEN);
        assertThat(line.get("top_k").asInt()).isEqualTo(3);
        assertThat(line.get("rounds").asLong()).isPositive();
        assertThat(line.get("errors").asLong()).isZero();
        assertThat(line.get("allocated_bytes_per_round").asDouble()).isNotNegative();
        for (String half : List.of("dispatch", "combine")) {
            JsonNode latency = line.get(half + "_us");
            assertThat(latency.get("p50").asDouble()).isPositive();
            assertThat(latency.get("p50").asDouble())
                    .isLessThanOrEqualTo(latency.get("p99").asDouble());
            assertThat(line.get(half + "_gigabytes_per_second").asDouble()).isPositive();
        }
    }

    private static String[] arguments(String mode, String... options) {
        List<String> arguments = new ArrayList<>(List.of(
                "bench",
                "--experts",
                mode,
                "--tokens",
                "20",
                "--hidden",
                Integer.toString(HIDDEN),
                "--top-k",
                "3",
                "--warmup",
                "0"));
        arguments.addAll(List.of(options));
        return arguments.toArray(String[]::new);
    }

    private JsonNode measure(String mode, String... options) throws IOException {
        Path json = folder.resolve("out.json");
        List<String> all =
                new ArrayList<>(List.of("--duration", BenchProgramTest.millis(10), "--json", json.toString()));
        all.addAll(List.of(options));
        try (SluiceProcess bench = SluiceProcess.run(folder, arguments(mode, all.toArray(String[]::new)))) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            List<JsonNode> lines = SluiceProcess.jsonLines(Files.readString(json));
            assertThat(lines).hasSize(1);
            return lines.getFirst();
        }
    }
}
