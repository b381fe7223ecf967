package io.sluice.samples.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.samples.bench.BenchOperation;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The C program, built with the address and undefined-behaviour sanitizers where this machine has them. */
class BaselineTest {

    private static final List<String> SANITIZED =
            List.of("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all");
    private static final Duration BOUND = Patience.BOUND;

    @TempDir
    private static Path probe;

    private static BenchEnvironment workbench;

    @BeforeAll
    static void build() throws Exception {
        Assumptions.assumeTrue(Program.CEILING.isPresent(), "no C compiler");
        Timing timing = new Timing(1, Duration.ofMillis(100), Duration.ofMillis(20));
        Pinning pinning = new Pinning(List.of(), List.of(), List.of(), true);
        workbench = BenchEnvironment.open(timing, pinning, arguments -> arguments, () -> false);
        BaselineBuild.build(
                CProgram.CEILING, workbench.folder(), hasSanitizers() ? SANITIZED : List.of("-O1"), () -> false);
    }

    @AfterAll
    static void discard() throws IOException {
        if (workbench != null) {
            workbench.close();
        }
    }

    /** Only what this machine lacks excuses from them. */
    private static boolean hasSanitizers() {
        String script = "echo 'int main(void) { return 0; }' | ${CC:-cc} -fsanitize=address,undefined -x c - -o probe"
                + " && ./probe";
        List<String> command = List.of("sh", "-c", "cd '" + probe + "' && " + script);
        try (ToolProcess process = ToolProcess.start(probe, Map.of(), BOUND, command)) {
            process.await(BOUND, () -> false);
            return true;
        } catch (MeasurementFailedException e) {
            System.err.println("WITHOUT sanitizers: " + e.getMessage());
            return false;
        }
    }

    static Stream<Measurement> measurements() {
        return Stream.of(
                BaselineRun.transfers(BenchOperation.WRITE, 8, 32),
                BaselineRun.transfers(BenchOperation.WRITE, 5000, 1),
                BaselineRun.transfers(BenchOperation.WRITE, 4 << 20, 3),
                BaselineRun.transfers(BenchOperation.READ, 1, 4096),
                BaselineRun.transfers(BenchOperation.READ, 4096, 32),
                BaselineRun.transfers(BenchOperation.READ, 4 << 20, 3),
                BaselineRun.pingPong(),
                BaselineRun.blockingPingPong(),
                BaselineRun.privateCopies(8, 100),
                BaselineRun.privateCopies(1 << 20, 1 << 20),
                BaselineRun.sharedCopies(8, 100),
                BaselineRun.sharedCopies(1 << 20, 4 << 20));
    }

    @ParameterizedTest
    @MethodSource("measurements")
    void measures(Measurement measurement) throws Exception {
        Figures figures = measurement.run(workbench).checked();
        assertThat(figures.values()).isNotEmpty();
    }

    /** Containers may forbid it, and so may a kernel that is told to. */
    @ParameterizedTest
    @ValueSource(longs = {1, 5000, 1 << 20})
    void writesIntoAnotherProcess(long size) throws Exception {
        try {
            assertThat(BaselineRun.crossMemoryWrites(size)
                            .run(workbench)
                            .checked()
                            .values())
                    .isNotEmpty();
        } catch (MeasurementFailedException e) {
            assertThat(e).hasMessageContaining("process_vm_writev");
            Assumptions.abort(e.getMessage());
        }
    }

    @Test
    void aPingPongThatSpinsComesBackToo() throws Exception {
        String output = workbench.runPair(
                "spin",
                Map.of(),
                port -> List.of(workbench.program(CProgram.CEILING), "target", Integer.toString(port)),
                port -> List.of(
                        workbench.program(CProgram.CEILING), "ping-pong", Integer.toString(port), "spin", "0", "50"));
        BaselineRun.BaselineOutput figures = BaselineRun.BaselineOutput.of(output);
        assertThat(figures.operations()).isPositive();
        assertThat(figures.nanos()).isGreaterThanOrEqualTo(50_000_000);
        assertThat(figures.medianNanos()).isBetween(1L, figures.nanos());
        assertThat(figures.p99Nanos()).isBetween(figures.medianNanos(), figures.nanos());
    }

    @ParameterizedTest
    @MethodSource("wrongArguments")
    void wrongArgumentsAreNamed(List<String> arguments) {
        List<String> command = Pinning.command(List.of(workbench.program(CProgram.CEILING)), arguments);
        assertThatThrownBy(() -> workbench.runAlone("ceiling", Map.of(), command))
                .isInstanceOf(MeasurementFailedException.class)
                .hasMessageContaining("status 2")
                .hasMessageContaining("ceiling process-vm-writev SIZE");
    }

    static Stream<List<String>> wrongArguments() {
        return Stream.of(
                List.of(),
                List.of("target"),
                List.of("target", "65536"),
                List.of("put", "1", "0", "1", "0", "1"),
                List.of("put", "1", "-8", "1", "0", "1"),
                List.of("get", "1", "8", "4097", "0", "1"),
                List.of("get", "1", "8", "1", "0", "0"),
                List.of("ping-pong", "1", "sleep", "0", "1"),
                List.of("memcpy", "100", "99", "0", "1"),
                List.of("shared-memcpy", "100", "99", "0", "1"),
                List.of("process-vm-writev", "0", "0", "1"),
                List.of("process-vm-writev", "8", "0"),
                List.of("dance", "1", "2", "3", "4"));
    }

    @Test
    void aTargetTrustsNoStranger() throws Exception {
        int port = LoopbackPort.free();
        List<String> command = List.of(workbench.program(CProgram.CEILING), "target", Integer.toString(port));
        try (ToolProcess target = ToolProcess.start(workbench.folder(), Map.of(), BOUND, command)) {
            Awaitility.await("it listens or has ended")
                    .atMost(BOUND)
                    .until(() -> LoopbackPort.isListening(port) || target.endsWithin(5));
            assertThat(LoopbackPort.isListening(port)).isTrue();
            try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port);
                    OutputStream out = stranger.getOutputStream()) {
                out.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThatThrownBy(() -> target.await(BOUND, () -> false))
                        .isInstanceOf(MeasurementFailedException.class)
                        .hasMessageContaining("status 1")
                        .hasMessageContaining("no initiator");
            }
        }
    }
}
