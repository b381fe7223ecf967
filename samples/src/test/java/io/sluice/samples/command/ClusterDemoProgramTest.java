package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.samples.mover.peer.MoverRole;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cluster demonstration as its users run it: four processes. */
class ClusterDemoProgramTest {

    /** It starts five JVMs, one after another as far as they wait for each other. */
    private static final Duration BOUND = Patience.longBound();

    private static final Duration POLL = Duration.ofMillis(10);

    private static final Pattern SOME_MOVES = Pattern.compile("\\b[1-9][\\d,]* moves, ");

    @TempDir
    private Path folder;

    @Test
    @Tag("soak")
    void trafficGoesOnWithoutAKilledMoverAndComesFromItAgain() throws IOException {
        Path json = folder.resolve("out.json");
        try (SluiceProcess demo =
                SluiceProcess.start(folder, "cluster-demo", "--duration", "2s", "--json", json.toString())) {
            assertThat(demo.awaitEnd(BOUND)).as(demo::toString).isZero();
            JsonNode summary = SluiceProcess.json(json);
            assertThat(summary.path("corrupted_pages").asLong(-1)).isZero();
            assertThat(summary.path("unfinished_blocks").asLong(-1)).isZero();
            assertThat(summary.path("killed_peer").asText()).isEqualTo("prefill/0");
            assertThat(summary.path("other_moves_meanwhile").asLong()).isPositive();
            assertThat(summary.path("moves_from_restarted_peer").asLong()).isPositive();
            assertThat(summary.path("seconds_without_killed_peer").asDouble())
                    .isGreaterThan(summary.path("seconds_from_restart").asDouble());
            assertThat(summary.path("peers"))
                    .hasSize(2)
                    .allSatisfy(peer -> assertThat(peer.path("bytes").asLong()).isPositive());
            assertThat(summary.path("transports")).hasSize(1);
            assertThat(summary.at("/transports/0").asText()).isEqualTo("shm");
            assertThat(demo.out())
                    .containsSubsequence(
                            "blocks move to decode/0",
                            "killed prefill/0 (SIGKILL)",
                            "started prefill/0 again",
                            "blocks come from prefill/0 again",
                            "corrupted pages      0");
            assertThat(demo.err()).isEmpty();
            assertNothingIsLeft();
        }
    }

    @Test
    @Tag("soak")
    void sigintEndsAllWithAPartialSummary() throws IOException {
        Path json = folder.resolve("out.json");
        try (SluiceProcess demo = SluiceProcess.start(
                folder, "cluster-demo", "--duration", "5m", "--transport", "tcp", "--json", json.toString())) {
            await("traffic")
                    .atMost(BOUND)
                    .until(() -> SOME_MOVES.matcher(demo.out()).find()
                            || !demo.handle().isAlive());
            List<ProcessHandle> movers = demo.handle().children().toList();
            assertThat(movers).as(demo::toString).hasSize(3);
            demo.signal("INT");
            assertThat(demo.awaitEnd(BOUND)).as(demo::toString).isEqualTo(130);
            assertGone(movers);
            assertThat(demo.out()).contains("Interrupted", "(interrupted)", "corrupted pages      0");
            JsonNode summary = SluiceProcess.json(json);
            assertThat(summary.path("interrupted").asBoolean()).isTrue();
            assertThat(summary.at("/transports/0").asText()).isEqualTo("tcp");
            assertNothingIsLeft();
        }
    }

    @Test
    void aKilledDemonstrationLeavesNoOrphan() throws IOException {
        try (SluiceProcess demo = SluiceProcess.start(folder, "cluster-demo")) {
            List<ProcessHandle> movers = List.of(demo.awaitChild());
            demo.signal("KILL");
            demo.awaitEnd();
            assertGone(movers);
        }
    }

    @Test
    void aMoverThatFailsIsToldOf() throws IOException {
        try (SluiceProcess demo = SluiceProcess.start(folder, "cluster-demo")) {
            ProcessHandle mover = demo.awaitChild();
            // Before, it is what the JDK starts programs by, and the demonstration would fail in another way.
            await("the program itself")
                    .pollInterval(POLL)
                    .atMost(BOUND)
                    .until(() -> commandLine(mover).contains("--until-input-ends")
                            || !demo.handle().isAlive());
            mover.destroyForcibly();
            assertThat(demo.awaitEnd(BOUND)).as(demo::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(demo.err()).contains("decode/0 ended with status 137").doesNotContain("\tat ");
            assertNothingIsLeft();
        }
    }

    @Test
    void whatAMoverSaysOfItsFailureIsShown() throws IOException {
        StringWriter told = new StringWriter();
        try (Termination termination = Termination.handle();
                DemoCluster cluster = new DemoCluster(List.of("--no-such-option"), termination)) {
            cluster.start(MoverRole.DECODE, "0", 1 << 20);
            assertThatThrownBy(() -> cluster.awaitReady("decode/0"))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("decode/0 ended with status 2");
            cluster.tellLastWords(new PrintWriter(told));
        }
        assertThat(told.toString()).contains("---- decode/0", "--no-such-option");
    }

    /** Empty if it has ended. The JDK does not give long ones. */
    private static String commandLine(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"), StandardCharsets.UTF_8);
        } catch (IOException ended) {
            return "";
        }
    }

    private void assertNothingIsLeft() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.filter(file -> file.getFileName().toString().startsWith("sluice-cluster-")))
                    .isEmpty();
        }
    }

    private static void assertGone(List<ProcessHandle> processes) {
        assertThat(processes)
                .isNotEmpty()
                .allSatisfy(process -> assertThat(
                                process.onExit().orTimeout(SluiceProcess.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                        .succeedsWithin(SluiceProcess.BOUND));
    }
}
