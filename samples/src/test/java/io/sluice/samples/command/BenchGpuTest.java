package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bench command with memory of GPUs, which are in software, and with lists of pages. */
class BenchGpuTest {

    private static final Path SOFTWARE_GPU = Path.of("../native/target/native-objects/libsoftgpu.so");
    private static final int PAGES = 100;
    private static final List<JsonNode> GPUS = new ArrayList<>();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({
        "read,        reactor, cuda:1, cuda:0, '8,4KiB,1MiB'",
        "write,       engine,  cuda:0, cuda:1, '8,4KiB,1MiB'",
        "fetch-add,   engine,  cuda:0, cuda:1, 8",
        "read-pages,  vertx,   cuda:0, cuda:1, 4KiB",
        "write,       reactor, host,   cuda,   '8,1MiB'"
    })
    void measuresAndVerifiesMemoryOfGpusByTheOtherInterfaces(
            String operation, String api, String memory, String server, String sizes) throws IOException {
        measuresAndVerifiesMemoryOfGpus(operation, api, memory, server, sizes);
    }

    @ParameterizedTest
    @CsvSource("write-pages, engine,  cuda:0, cuda:1, '8,4KiB'")
    void measuresAndVerifiesMemoryOfGpus(String operation, String api, String memory, String server, String sizes)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                "bench", "--loopback", "--op", operation, "--api", api, "--memory", memory, "--server-memory", server));
        if (operation.endsWith("pages")) {
            arguments.addAll(List.of("--iov", Integer.toString(PAGES), "--scattered"));
        }
        arguments.addAll(List.of("--size", sizes, "--duration", BenchProgramTest.SHORT, "--warmup", "0"));
        arguments.addAll(List.of("--verify", "--json", "-"));
        try (SluiceProcess bench = run(softwareGpus(), arguments)) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            assertThat(bench.err())
                    .as("of a serving process that has to be killed")
                    .doesNotContain("does not end");
            List<JsonNode> lines = SluiceProcess.jsonLines(bench.out());
            assertThat(lines).hasSameSizeAs(sizes.split(",", -1));
            assertThat(lines).allSatisfy(line -> {
                assertThat(line.get("path").asText()).isEqualTo("cuda");
                assertThat(line.get("memory").asText()).isEqualTo(memory);
                assertThat(line.get("server_memory").asText()).startsWith(server);
                assertThat(line.get("verified").asBoolean()).isTrue();
                assertThat(line.get("transfers").asLong()).isPositive();
            });
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"writev, engine, 4KiB", "write-pages, reactor, '8,4KiB'", "read-pages, engine, '4KiB,64KiB'"})
    void scatteredMemoryOfTheHostIsVerifiedToo(String operation, String api, String sizes) throws IOException {
        List<String> arguments = List.of(
                "bench",
                "--loopback",
                "--transport",
                "tcp",
                "--op",
                operation,
                "--api",
                api,
                "--scattered",
                "--size",
                sizes,
                "--duration",
                BenchProgramTest.SHORT,
                "--warmup",
                "0",
                "--verify",
                "--json",
                "-");
        try (SluiceProcess bench = run(Map.of(), arguments)) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            assertThat(SluiceProcess.jsonLines(bench.out())).allSatisfy(line -> {
                assertThat(line.get("buffers").asText()).isEqualTo("scattered");
                assertThat(line.get("path").asText()).isEqualTo("tcp");
                assertThat(line.get("memory").asText()).isEqualTo("host");
                assertThat(line.get("verified").asBoolean()).isTrue();
            });
        }
    }

    private List<JsonNode> collectives(String... options) throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of("bench", "--memory", "cuda", "--verify", "--duration", "1ms", "--warmup", "0", "--json", "-"));
        arguments.addAll(List.of(options));
        try (SluiceProcess bench = run(softwareGpus(), arguments)) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            List<JsonNode> lines = SluiceProcess.jsonLines(bench.out());
            assertThat(lines).allSatisfy(line -> {
                assertThat(line.get("memory").asText()).isEqualTo("cuda:0");
                assertThat(line.get("persistent").asBoolean()).isTrue();
                assertThat(line.get("verified").asBoolean()).isTrue();
                assertThat(line.get("operations").asLong()).isPositive();
                assertThat(line.get("latency_us").get("p50").asDouble()).isPositive();
                assertThat(line.get("device_us").asDouble()).isPositive();
                assertThat(line.get("device_bus_gigabytes_per_second").asDouble() > 0)
                        .isEqualTo(line.get("size").asLong() > 0);
            });
            return lines;
        }
    }

    @Test
    @Tag("soak")
    void measuresAndVerifiesGraphsOfCollectives() throws IOException {
        List<JsonNode> lines = collectives("--collective", "allreduce,alltoall", "--size", "1000", "--graph", "3");
        assertThat(lines).hasSize(2).allSatisfy(line -> {
            assertThat(line.get("graph").asInt()).isEqualTo(3);
            assertThat(line.get("operations").asLong() % 3).isZero();
            assertThat(line.get("algorithm").asText()).isEqualTo("messages");
        });
    }

    @Test
    @Tag("soak")
    void measuresAndVerifiesEachCollectiveOfGpus() throws IOException {
        List<JsonNode> lines = collectives(
                "--collective",
                "allreduce,reducescatter,allgather,broadcast,reduce,alltoall,barrier",
                "--size",
                "8,100KiB,2MiB",
                "--type",
                "bfloat16");
        assertThat(lines).hasSize(19);
        assertThat(lines).extracting(line -> line.get("algorithm").asText()).contains("messages", "direct");
        assertThat(lines)
                .allSatisfy(line -> assertThat(line.get("graph").asInt()).isZero());
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"low-latency, '1,2', false", "normal, '1,2', true", "normal, 1, false"})
    void measuresAndVerifiesExpertsOfTheOtherFormat(String mode, String ranks, boolean fp8) throws IOException {
        measuresAndVerifiesExperts(mode, ranks, fp8);
    }

    @ParameterizedTest
    @CsvSource("low-latency, 2, true")
    void measuresAndVerifiesExperts(String mode, String ranks, boolean fp8) throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of("bench", "--experts", mode, "--memory", "cuda", "--ranks", ranks, "--blocks", "2", "--verify"));
        arguments.addAll(List.of("--tokens", "20", "--hidden", "512", "--top-k", "3", "--experts-total", "8"));
        arguments.addAll(List.of("--duration", "1ms", "--warmup", "0", "--json", "-"));
        if (fp8) {
            arguments.add("--fp8");
        }
        try (SluiceProcess bench = run(softwareGpus(), arguments)) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            List<JsonNode> lines = SluiceProcess.jsonLines(bench.out());
            assertThat(lines).hasSameSizeAs(ranks.split(",", -1));
            assertThat(lines).allSatisfy(line -> {
                assertThat(line.get("mode").asText()).isEqualTo(mode);
                assertThat(line.get("memory").asText()).isEqualTo("cuda:0");
                assertThat(line.get("backend").isNull()).isTrue();
                assertThat(line.get("fp8").asBoolean()).isEqualTo(fp8);
                assertThat(line.get("verified").asBoolean()).isTrue();
                assertThat(line.get("rounds").asLong()).isPositive();
                assertThat(line.get("device_round_us").asDouble()).isPositive();
                for (String half : List.of("dispatch", "combine")) {
                    assertThat(line.get(half + "_us").get("p50").asDouble()).isPositive();
                    double micros = line.get("device_" + half + "_us").asDouble();
                    assertThat(line.get("device_" + half + "_gigabytes_per_second")
                                    .asDouble())
                            .isCloseTo(
                                    line.get(half + "_bytes").asDouble() / micros / 1e3, Percentage.withPercentage(1));
                }
            });
        }
    }

    @Test
    @Tag("soak")
    void aGpuIsNamedByItsUuidToo() throws IOException {
        String id = gpus().get(1).get("id").asText();
        List<String> arguments = List.of(
                "bench",
                "--loopback",
                "--memory",
                id,
                "--server-memory",
                "cuda:" + id,
                "--size",
                "8",
                "--duration",
                BenchProgramTest.SHORT,
                "--warmup",
                "0",
                "--json",
                "-");
        try (SluiceProcess bench = run(softwareGpus(), arguments)) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            JsonNode line = SluiceProcess.jsonLines(bench.out()).getFirst();
            assertThat(line.get("memory").asText()).isEqualTo("cuda:" + id);
            assertThat(line.get("path").asText()).isEqualTo("cuda");
        }
    }

    @Test
    void infoShowsGpus() throws IOException {
        assertThat(gpus()).hasSize(2);
        assertThat(gpus().getFirst().get("links").get(0).get("kind").asText()).isEqualTo("nvlink");
    }

    /** All tests see the same. */
    private List<JsonNode> gpus() throws IOException {
        if (!GPUS.isEmpty()) {
            return GPUS;
        }
        try (SluiceProcess info = run(softwareGpus(), List.of("info", "--json"))) {
            assertThat(info.awaitEnd()).as(info::toString).isZero();
            SluiceProcess.jsonLines(info.out()).getFirst().get("gpus").forEach(GPUS::add);
            return GPUS;
        }
    }

    @Test
    @Tag("soak")
    void theDemoMovesPagesFromGpuToGpu() throws IOException {
        try (SluiceProcess demo = run(softwareGpus(), List.of("demo", "--memory", "cuda", "--duration", "50ms"))) {
            assertThat(demo.awaitEnd()).as(demo::toString).isZero();
            assertThat(demo.out())
                    .contains("has the KV-cache of a request in memory of cuda:0", "page pool in memory of cuda:1")
                    .contains("write-pages over cuda", "Every page that was moved arrived as it was sent");
        }
    }

    /** Comparisons that take two GPUs are left out, and those that take one are measured. */
    @Test
    @Tag("soak")
    void compareMeasuresWhatTheGpusAllow() throws IOException {
        Map<String, String> one = new HashMap<>(softwareGpus());
        one.put("SOFT_GPU_DEVICES", "1");
        one.put("SLUICE_CUDA_LIBRARY", SOFTWARE_GPU.toAbsolutePath().normalize().toString());
        List<String> arguments = List.of(
                "compare",
                "--only",
                "gpu-host-write-64MiB,gpu-write-4KiB/nccl,gpu-allreduce-8B/nccl,round-torch",
                "--rounds=1",
                "--duration=50ms",
                "--warmup=0",
                "--json=-");
        try (SluiceProcess compare = run(one, arguments)) {
            assertThat(compare.awaitEnd()).as(compare::toString).isZero();
            JsonNode comparisons = new ObjectMapper().readTree(compare.out()).get("comparisons");
            JsonNode pinned = comparisons.get(0);
            assertThat(pinned.get("name").asText()).isEqualTo("gpu-host-write-64MiB/gpu-pinned-copy");
            assertThat(pinned.get("ratio").asDouble()).isPositive();
            for (int i = 1; i <= 3; i++) {
                assertThat(comparisons.get(i).get("problem").asText())
                        .contains("left out: it takes 2 GPUs, and there is 1");
            }
        }
    }

    @Test
    void aGpuThatIsNotThereIsNamedWithThoseThatAre() throws IOException {
        try (SluiceProcess bench = run(softwareGpus(), List.of("bench", "--loopback", "--memory", "cuda:7"))) {
            assertThat(bench.awaitEnd()).isEqualTo(ExitCodes.USAGE);
            assertThat(bench.err())
                    .contains("--memory: there is no GPU 7 here; there are cuda:0 (GPU-", "cuda:1 (GPU-");
        }
    }

    @Test
    void withoutADriverItSaysWhy() throws IOException {
        Map<String, String> none = library(folder.resolve("no-cuda.so"));
        for (List<String> arguments : List.of(
                List.of("bench", "--loopback", "--server-memory", "cuda:0"),
                List.of("bench", "--experts", "low-latency", "--memory", "cuda:0"),
                List.of("serve", "--listen", "127.0.0.1:0", "--memory", "1MiB", "--on", "cuda:0"))) {
            try (SluiceProcess program = run(none, arguments)) {
                assertThat(program.awaitEnd()).isEqualTo(ExitCodes.FAILED);
                assertThat(program.err()).contains("cuda:0: GPUs cannot be used here: ", "no-cuda.so");
            }
        }
    }

    private static Map<String, String> softwareGpus() {
        Assumptions.assumeTrue(Files.exists(SOFTWARE_GPU), "no software GPU: the module native has not been built");
        return library(SOFTWARE_GPU.toAbsolutePath().normalize());
    }

    private static Map<String, String> library(Path file) {
        return Map.of("JDK_JAVA_OPTIONS", "-Dsluice.cuda.library=" + file);
    }

    private SluiceProcess run(Map<String, String> environment, List<String> arguments) throws IOException {
        return SluiceProcess.start(folder, environment, arguments.toArray(String[]::new));
    }
}
