package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The compare command as its users run it. */
class CompareProgramTest {

    private static final Map<String, String> NO_INSTALL = Map.of("SLUICE_NO_INSTALL", "1");

    @TempDir
    private Path folder;

    @Test
    void comparesWithThePlainCProgram() throws IOException {
        Path json = folder.resolve("out.json");
        try (SluiceProcess compare = SluiceProcess.start(
                folder,
                NO_INSTALL,
                arguments("write-8B/ceiling,read-8B/ping-pong", "--api", "engine", "--json", json.toString()))) {
            assertThat(compare.awaitEnd()).as(compare::toString).isZero();
            assertThat(compare.out().lines()).hasSize(4);
            assertThat(compare.out())
                    .startsWith("medians of 1 round, 100 ms after 0 s of warm-up; ")
                    .contains("comparison", "write-8B/ceiling", "read-8B/ping-pong", "<= 1.25");
            assertThat(compare.err()).contains("4 measurements in one round, about");
            List<JsonNode> comparisons = comparisons(Files.readString(json));
            assertThat(comparisons)
                    .extracting(line -> line.get("name").asText())
                    .containsExactly("write-8B/ceiling", "read-8B/ping-pong");
            comparisons.forEach(CompareProgramTest::assertPlausible);
            JsonNode document = new ObjectMapper().readTree(Files.readString(json));
            assertThat(document.get("machine").get("processors").asInt()).isPositive();
            assertThat(document.get("programs").isEmpty()).isFalse();
            assertThat(document.get("command").asText()).startsWith("./sluice compare --only write-8B/ceiling");
            assertThat(comparisons
                            .getFirst()
                            .get("sluice")
                            .get("commands")
                            .get(0)
                            .asText())
                    .startsWith("./sluice bench --loopback --transport tcp");
            assertThat(comparisons.getFirst().get("peer").get("commands")).hasSize(2);
            drawsWithoutMeasuring(json);
            assertThat(comparisons).allMatch(line -> line.get("met").isBoolean());
        }
        assertNothingIsLeft();
    }

    private void drawsWithoutMeasuring(Path json) throws IOException {
        Path html = folder.resolve("page.html");
        Path markdown = folder.resolve("tables.md");
        ProgramRun compare = ProgramRun.of(
                "compare", "--from", json.toString(), "--html", html.toString(), "--markdown", markdown.toString());
        assertThat(compare.status()).as(compare::toString).isZero();
        assertThat(compare.out()).contains("medians of 1 round", "write-8B/ceiling");
        assertThat(compare.err()).doesNotContain("round 1");
        assertThat(Files.readString(html)).contains("\"cells\":[\"read-8B/ping-pong\"", "echarts.init");
        assertThat(Files.readString(markdown)).contains("| `read-8B/ping-pong` | engine |");
    }

    @Test
    @Tag("soak")
    void comparesShmWithMemcpyAndWithFixedFigures() throws IOException {
        String names = "shm-write-64KiB/memcpy,shm-writev-256x8B,shm-write-8B/latency";
        try (SluiceProcess compare = SluiceProcess.start(
                folder, NO_INSTALL, arguments(names, "--transport", "shm", "--api", "engine", "--json", "-"))) {
            assertThat(compare.awaitEnd()).as(compare::toString).isZero();
            List<JsonNode> comparisons = comparisons(compare.out());
            assertThat(comparisons)
                    .extracting(line ->
                            line.get("name").asText() + " " + line.get("api").asText())
                    .containsExactly(
                            "shm-write-64KiB/memcpy engine",
                            "shm-writev-256x8B/rate engine",
                            "shm-write-8B/latency engine",
                            "shm-write-8B/latency reactor");
            assertThat(comparisons).allSatisfy(line -> {
                assertThat(line.get("transport").asText()).isEqualTo("shm");
                assertThat(line.get("ratio").asDouble()).isPositive();
                assertThat(line.get("met").isBoolean()).isTrue();
                assertThat(line.get("peer").get("rounds")).hasSize(1);
            });
        }
        assertNothingIsLeft();
    }

    @Test
    @Tag("soak")
    void comparesExpertsWithPlainCopies() throws IOException {
        try (SluiceProcess compare = SluiceProcess.start(
                folder, NO_INSTALL, arguments("shm-low-latency-8-tokens-fp8-2-ranks", "--json", "-"))) {
            assertThat(compare.awaitEnd()).as(compare::toString).isZero();
            List<JsonNode> comparisons = comparisons(compare.out());
            assertThat(comparisons)
                    .extracting(line -> line.get("unit").asText())
                    .containsExactly("dispatch GB/s", "combine GB/s");
            assertThat(comparisons).allSatisfy(line -> {
                assertPlausible(line);
                assertThat(line.get("sharing").get("ranks").asInt()).isEqualTo(2);
            });
        }
        assertNothingIsLeft();
    }

    @Test
    @Tag("soak")
    void comparesStartsWithABareHello() throws IOException {
        try (SluiceProcess compare =
                SluiceProcess.start(folder, NO_INSTALL, arguments("first-transfer", "--json", "-"))) {
            assertThat(compare.awaitEnd()).as(compare::toString).isZero();
            List<JsonNode> comparisons = comparisons(compare.out());
            assertThat(comparisons).hasSize(1);
            JsonNode first = comparisons.getFirst();
            assertThat(first.get("name").asText()).isEqualTo("first-transfer/hello");
            assertThat(first.get("ratio").asDouble()).isPositive();
        }
        assertNothingIsLeft();
    }

    @Test
    @Tag("soak")
    void comparesStartsWithACache() throws IOException {
        try (SluiceProcess compare = SluiceProcess.start(folder, NO_INSTALL, arguments("aot-info", "--json", "-"))) {
            assertThat(compare.awaitEnd()).as(compare::toString).isZero();
            List<JsonNode> comparisons = comparisons(compare.out());
            assertThat(comparisons).hasSize(1);
            JsonNode cached = comparisons.getFirst();
            if (TestedProgram.chosen().isPackaged()) {
                assertThat(cached.get("problem").isNull()).as(compare::toString).isTrue();
                assertThat(cached.get("ratio").asDouble()).isPositive();
            } else {
                // The classes are in folders there.
                assertThat(cached.get("problem").asText()).contains("left out", "jars");
            }
        }
        assertNothingIsLeft();
    }

    private static void assertPlausible(JsonNode line) {
        double ours = line.get("sluice").get("median").asDouble();
        double theirs = line.get("peer").get("median").asDouble();
        assertThat(ours).isPositive();
        assertThat(theirs).isPositive();
        assertThat(line.get("sluice").get("rounds")).hasSize(1);
        assertThat(line.get("peer").get("rounds")).hasSize(1);
        assertThat(line.get("ratio").asDouble()).isEqualTo(ours / theirs);
        assertThat(line.get("api").asText()).isEqualTo("engine");
        assertThat(line.get("problem").isNull()).isTrue();
    }

    @Test
    void whatIsNotHereIsLeftOutAndMeetsNoGoal() throws IOException {
        Map<String, String> bare = Map.of("SLUICE_NO_INSTALL", "1", "PATH", pathWith("taskset", "timeout"));
        try (SluiceProcess compare = SluiceProcess.start(folder, bare, arguments("iperf3", "--json", "-"))) {
            assertThat(compare.awaitEnd()).as(compare::toString).isZero();
            assertThat(compare.err())
                    .contains("left out: iperf3 is not here", "apt-get install -y --no-install-recommends iperf3");
            assertThat(comparisons(compare.out()))
                    .hasSize(3)
                    .allMatch(line ->
                            line.get("ratio").isNull() && line.get("met").isNull());
        }
        try (SluiceProcess compare = SluiceProcess.start(folder, bare, arguments("iperf3", "--check"))) {
            assertThat(compare.awaitEnd()).as(compare::toString).isEqualTo(ExitCodes.FAILED);
        }
    }

    @Test
    @Tag("soak")
    void aPeerThatFailsDoesNotEndTheRest() throws IOException {
        Path fake = Files.writeString(folder.resolve("iperf3"), "#!/bin/sh\necho out of order >&2\nexit 3\n");
        assertThat(fake.toFile().setExecutable(true)).isTrue();
        Map<String, String> environment =
                Map.of("SLUICE_NO_INSTALL", "1", "PATH", folder + File.pathSeparator + System.getenv("PATH"));
        try (SluiceProcess compare = SluiceProcess.start(
                folder, environment, arguments("write-1MiB/iperf3,write-1MiB/memcpy", "--json", "-"))) {
            assertThat(compare.awaitEnd()).as(compare::toString).isEqualTo(ExitCodes.FAILED);
            List<JsonNode> comparisons = comparisons(compare.out());
            assertThat(comparisons.getFirst().get("problem").asText()).contains("failed: iperf3", "out of order");
            assertThat(comparisons.getFirst().get("ratio").isNull()).isTrue();
            assertThat(comparisons.getLast().get("ratio").asDouble()).isPositive();
        }
    }

    @Test
    @Tag("soak")
    void sigintEndsAllProcessesAndShowsWhatThereIs() throws IOException {
        try (SluiceProcess compare = SluiceProcess.start(
                folder,
                NO_INSTALL,
                "compare",
                "--only",
                "ping-pong",
                "--rounds",
                "1",
                "--duration",
                "5m",
                "--warmup",
                "0")) {
            // The command, what bounds it, the bound one, and the serving one; a compiler has as many while it builds.
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> compare.err().contains("round 1 of 1")
                                    && compare.handle().descendants().count() >= 4
                            || !compare.handle().isAlive());
            List<ProcessHandle> started = compare.handle().descendants().toList();
            compare.signal("INT");
            assertThat(compare.awaitEnd()).as(compare::toString).isEqualTo(130);
            assertThat(started).hasSizeGreaterThanOrEqualTo(4).allSatisfy(CompareProgramTest::assertGone);
            assertThat(compare.out()).contains("read-8B/ping-pong", "Interrupted");
        }
        assertNothingIsLeft();
    }

    @Test
    void sigintWhileItPreparesShowsThatNothingIsMeasuredYet() throws IOException {
        Path compiler = Files.writeString(folder.resolve("slow-cc"), """
                #!/bin/sh
                [ "$1" = -E ] && exit 0
                : > "$0.builds"
                exec sleep 300
                """);
        assertThat(compiler.toFile().setExecutable(true)).isTrue();
        Map<String, String> environment = Map.of("SLUICE_NO_INSTALL", "1", "CC", compiler.toString());
        try (SluiceProcess compare = SluiceProcess.start(folder, environment, "compare", "--only", "ping-pong")) {
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> Files.exists(folder.resolve("slow-cc.builds"))
                            || !compare.handle().isAlive());
            List<ProcessHandle> started = compare.handle().descendants().toList();
            compare.signal("INT");
            assertThat(compare.awaitEnd()).as(compare::toString).isEqualTo(130);
            assertThat(started).isNotEmpty().allSatisfy(CompareProgramTest::assertGone);
            assertThat(compare.out()).contains("read-8B/ping-pong", "Interrupted");
        }
        assertNothingIsLeft();
    }

    private static void assertGone(ProcessHandle process) {
        assertThat(process.onExit().orTimeout(SluiceProcess.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                .succeedsWithin(SluiceProcess.BOUND);
    }

    private void assertNothingIsLeft() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).noneMatch(file -> file.getFileName().toString().startsWith("sluice-compare-"));
        }
    }

    private static String[] arguments(String only, String... more) {
        List<String> arguments = new ArrayList<>(
                List.of("compare", "--only", only, "--rounds", "1", "--duration", "100ms", "--warmup", "0"));
        arguments.addAll(List.of(more));
        return arguments.toArray(String[]::new);
    }

    /** A folder with these programs alone. */
    private String pathWith(String... names) throws IOException {
        Path only = Files.createDirectory(folder.resolve("bin"));
        for (String name : names) {
            Path file = Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
                    .map(part -> Path.of(part, name))
                    .filter(Files::isExecutable)
                    .findFirst()
                    .orElseThrow();
            Path same = Files.writeString(only.resolve(name), "#!/bin/sh\nexec '" + file + "' \"$@\"\n");
            assertThat(same.toFile().setExecutable(true)).isTrue();
        }
        return only.toString();
    }

    private static List<JsonNode> comparisons(String json) throws IOException {
        List<JsonNode> comparisons = new ArrayList<>();
        new ObjectMapper().readTree(json).get("comparisons").forEach(comparisons::add);
        return comparisons;
    }
}
