package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes as measurements start them. */
class BenchEnvironmentTest {

    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Duration LONG = Patience.BOUND;

    @TempDir
    private Path folder;

    @Test
    void whatAProcessPrintsComesBack() throws Exception {
        try (BenchEnvironment workbench = workbench(() -> false)) {
            assertThat(workbench.runAlone("echo", Map.of("WORD", "hello"), shell("echo $WORD; echo aside >&2")))
                    .isEqualTo("hello\n");
        }
    }

    @Test
    void aFailureHasTheStatusAndTheLastWords() throws IOException {
        try (BenchEnvironment workbench = workbench(() -> false)) {
            assertThatThrownBy(() -> workbench.runAlone("shell", Map.of(), shell("echo first; echo last >&2; exit 7")))
                    .isInstanceOf(MeasurementFailedException.class)
                    .hasMessage("shell: status 7: last");
        }
    }

    @Test
    void aTargetThatDoesNotListenIsTold() throws IOException {
        try (BenchEnvironment workbench = workbench(() -> false)) {
            assertThatThrownBy(() -> workbench.runPair(
                            "pair", Map.of(), port -> shell("echo no such device; exit 1"), port -> shell("true")))
                    .isInstanceOf(MeasurementFailedException.class)
                    .hasMessage("pair: the target ended before it listened: no such device");
        }
    }

    @Test
    void whatHangsIsKilledWithAllItHasStarted() throws Exception {
        Path pid = folder.resolve("pid");
        ProcessHandle sleeper;
        try (ToolProcess process =
                ToolProcess.start(folder, Map.of(), LONG, shell("sleep 600 & echo $! > " + pid + "; wait"))) {
            Awaitility.await().atMost(LONG).until(() -> Files.exists(pid) && Files.size(pid) > 0);
            sleeper = ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
                    .orElseThrow();
            assertThatThrownBy(() -> process.await(SHORT, () -> false))
                    .isInstanceOf(MeasurementFailedException.class)
                    .hasMessageContaining("did not end within");
        }
        assertThat(sleeper.onExit().orTimeout(LONG.toNanos(), TimeUnit.NANOSECONDS))
                .succeedsWithin(LONG);
    }

    @Test
    void aProcessEndsByItselfWhenNobodyIsLeftToKillIt() {
        try (ToolProcess process = ToolProcess.start(folder, Map.of(), Duration.ZERO, shell("sleep 600"))) {
            assertThatThrownBy(() -> process.await(LONG, () -> false))
                    .isInstanceOf(MeasurementFailedException.class)
                    .hasMessageContaining("status 137");
        }
    }

    @Test
    void anInterruptionEndsTheWaiting() throws IOException {
        try (BenchEnvironment workbench = workbench(() -> true)) {
            assertThatThrownBy(() -> workbench.runAlone("sleep", Map.of(), shell("sleep 600")))
                    .isInstanceOf(BrokenOffException.class);
        }
    }

    @Test
    void whatTwoProcessesUseOfTheirProcessorsIsTold() throws Exception {
        String listen = "import socket,time\ns=socket.socket()\ns.bind(('127.0.0.1',%d))\ns.listen()\ntime.sleep(2.5)";
        Assumptions.assumeTrue(SearchPath.find("python3") != null, "no python3");
        try (BenchEnvironment workbench = workbench(() -> false)) {
            BenchEnvironment.PairOutput output = workbench.runPairWatched(
                    "busy",
                    Map.of(),
                    port -> List.of("python3", "-c", String.format(Locale.ROOT, listen, port)),
                    port -> List.of(
                            "timeout",
                            "--preserve-status",
                            "2",
                            "sh",
                            "-c",
                            "trap 'exit 0' TERM; while :; do :; done"));
            assertThat(output.initiatorProcessors()).isNotNull().isPositive();
            assertThat(output.targetProcessors()).isNotNull().isLessThan(output.initiatorProcessors());
        }
    }

    @Test
    void theFolderGoesWithTheWorkbench() throws IOException {
        BenchEnvironment workbench = workbench(() -> false);
        Files.createDirectories(workbench.folder().resolve("a/b"));
        workbench.close();
        assertThat(workbench.folder()).doesNotExist();
    }

    @Test
    void aPortIsSeenToBeListenedOnWithoutAConnection() throws IOException {
        int port = FreePort.any();
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            assertThat(socket.isBound()).isTrue();
            assertThat(LoopbackPort.isListening(port)).isTrue();
        }
        assertThat(LoopbackPort.isListening(port)).isFalse();
    }

    private static BenchEnvironment workbench(BooleanSupplier interrupted) throws IOException {
        return BenchEnvironment.open(
                new Timing(1, SHORT, Duration.ZERO),
                new Pinning(List.of(), List.of(), List.of(), false),
                arguments -> arguments,
                interrupted);
    }

    private static List<String> shell(String script) {
        return List.of("sh", "-c", script);
    }
}
