package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.collectives.AlgorithmTable;
import io.sluice.collectives.CollectiveKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bench command with collectives as its users run it: a process for each rank. */
class BenchCollectiveTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("'reduce,reducescatter,allgather,broadcast,gather,scatter', 12")
    void measuresAndVerifiesOthers(String collectives, int count) throws IOException {
        measuresAndVerifies(collectives, count);
    }

    @ParameterizedTest
    @CsvSource("'allreduce,alltoall,barrier,sendrecv', 7")
    void measuresAndVerifies(String collectives, int count) throws IOException {
        List<JsonNode> lines =
                measure("--collective", collectives, "--size", "8,100KiB", "--transport", "shm", "--verify");
        assertThat(lines).hasSize(count);
        assertThat(lines).allSatisfy(line -> {
            assertPlausible(line, 2, "shm", "float32");
            assertThat(line.get("verified").asBoolean()).isTrue();
            assertThat(line.get("persistent").asBoolean()).isFalse();
        });
        assertThat(lines)
                .filteredOn(line -> line.get("size").asLong() == 100 << 10)
                .allSatisfy(line -> assertThat(line.get("bus_gigabytes_per_second")
                                        .asDouble()
                                / line.get("algorithm_gigabytes_per_second").asDouble())
                        .isBetween(0.499, 1.001));
        assertThat(lines.getFirst().get("operation").asText()).isEqualTo("sum");
        assertThat(lines.getLast().get("operation").isNull()).isTrue();
    }

    @Test
    @Tag("soak")
    void startsPreparedOnesOfThreeRanks() throws IOException {
        List<JsonNode> lines = measure(
                "--collective",
                "allreduce,reducescatter,alltoall,barrier",
                "--ranks",
                "3",
                "--size",
                "1000",
                "--type",
                "bfloat16",
                "--operation",
                "average",
                "--transport",
                "tcp",
                "--persistent",
                "--verify");
        assertThat(lines).hasSize(4).allSatisfy(line -> {
            assertPlausible(line, 3, "tcp", "bfloat16");
            assertThat(line.get("verified").asBoolean()).isTrue();
            assertThat(line.get("persistent").asBoolean()).isTrue();
        });
        assertThat(lines).extracting(line -> line.get("size").asLong()).containsExactly(1000L, 1002L, 1002L, 0L);
    }

    @Test
    @Tag("soak")
    void tunesATableThatItThenUses() throws IOException {
        Path table = folder.resolve("table.txt");
        List<JsonNode> lines =
                measure("--collective", "allreduce,barrier", "--size", "8,64KiB", "--tune", table.toString());
        int algorithms = AlgorithmTable.possible(CollectiveKind.ALL_REDUCE).size();
        assertThat(lines).hasSize(2 * algorithms + 1);
        AlgorithmTable tuned = AlgorithmTable.parse(Files.readString(table));
        String small = tuned.choose(CollectiveKind.ALL_REDUCE, 2, 8).toString();
        assertThat(Files.readString(table)).contains("# all-reduce, 2 ranks, 8 bytes:", "all-reduce * ", small);
        lines = measure("--collective", "allreduce", "--size", "8", "--table", table.toString());
        assertThat(lines).extracting(line -> line.get("algorithm").asText()).containsExactly(small);
    }

    @Test
    @Tag("soak")
    void endsAllItsProcessesWhenItIsInterrupted() throws IOException {
        try (SluiceProcess bench = SluiceProcess.start(
                folder,
                "bench",
                "--collective",
                "allreduce,barrier",
                "--size",
                "8",
                "--warmup",
                "0",
                "--duration",
                "5m")) {
            ProcessHandle other = bench.awaitChild();
            bench.signal("INT");
            assertThat(bench.awaitEnd()).as(bench::toString).isEqualTo(130);
            Awaitility.await().atMost(SluiceProcess.BOUND).until(() -> !other.isAlive());
        }
    }

    @Test
    void namesTheRankThatIsLost() throws IOException {
        try (SluiceProcess bench = SluiceProcess.start(
                folder,
                "bench",
                "--collective",
                "barrier,allreduce",
                "--size",
                "8",
                "--warmup",
                "0",
                "--duration",
                "1s",
                "--verify")) {
            ProcessHandle other = bench.awaitChild();
            Awaitility.await()
                    .atMost(SluiceProcess.BOUND)
                    .until(() -> bench.out().contains("barrier") || !other.isAlive());
            other.destroyForcibly();
            assertThat(bench.awaitEnd()).as(bench::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(bench.err()).contains("rank 1").doesNotContain("\tat ");
        }
    }

    private static void assertPlausible(JsonNode line, int ranks, String transport, String type) {
        assertThat(line.get("ranks").asInt()).isEqualTo(ranks);
        assertThat(line.get("transport").asText()).isEqualTo(transport);
        assertThat(line.get("type").asText()).isEqualTo(type);
        assertThat(line.get("algorithm").asText()).isNotIn("", "auto");
        assertThat(line.get("seconds").asDouble()).isPositive();
        assertThat(line.get("operations").asLong()).isPositive();
        assertThat(line.get("errors").asLong()).isZero();
        assertThat(line.get("processors").asInt()).isPositive();
        assertThat(line.get("oversubscription").asDouble())
                .isEqualTo((double) ranks / line.get("processors").asInt());
        assertThat(line.get("cores_used").isNumber()).isTrue();
        assertThat(line.get("allocated_bytes_per_operation").asDouble()).isNotNegative();
        JsonNode latency = line.get("latency_us");
        assertThat(latency.get("p50").asDouble()).isPositive();
        assertThat(latency.get("p50").asDouble())
                .isLessThanOrEqualTo(latency.get("p90").asDouble());
        assertThat(latency.get("p99").asDouble())
                .isLessThanOrEqualTo(latency.get("p999").asDouble());
        assertThat(latency.get("p999").asDouble())
                .isLessThanOrEqualTo(latency.get("max").asDouble());
        boolean moves = line.get("size").asLong() > 0;
        assertThat(line.get("bus_gigabytes_per_second").asDouble() > 0).isEqualTo(moves);
    }

    private List<JsonNode> measure(String... options) throws IOException {
        Path json = folder.resolve("out.json");
        List<String> arguments = new ArrayList<>(List.of(
                "bench", "--duration", BenchProgramTest.millis(10), "--warmup", "0", "--json", json.toString()));
        arguments.addAll(List.of(options));
        try (SluiceProcess bench = SluiceProcess.run(folder, arguments.toArray(String[]::new))) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            return SluiceProcess.jsonLines(Files.readString(json));
        }
    }
}
