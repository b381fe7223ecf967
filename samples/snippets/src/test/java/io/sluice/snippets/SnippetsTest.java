package io.sluice.snippets;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sluice.directory.contract.ServerProcess;
import io.sluice.snippets.launch.SnippetLauncher;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each snippet prints what it shows: here, and in the long runs in a JVM of its own, as the launcher runs it. */
class SnippetsTest {
    private static final Path SOURCES = Path.of("src/main/java/io/sluice/snippets");
    private static final Path SOFT_GPU = Path.of("../../native/target/native-objects/libsoftgpu.so");
    private static final String GPU_LIBRARY = "sluice.cuda.library";
    private static final Map<String, List<String>> SHOWN = Map.ofEntries(
            entry("AllReduce", List.of("rank 0 has 11.0 at place 10", "rank 2 has 11.0 at place 10")),
            entry("AtomicCounters", List.of("ticket 2", "taken: true", "second time: false", "tickets given: 3")),
            entry("ExportMetrics", List.of("sluice_transfer_bytes_total{engine=\"writer\"")),
            entry("KernelLaunch", List.of("after 3 rounds the last number is 6")),
            entry("Notifications", List.of("received ready: block 17")),
            entry("PageLists", List.of("slot 9 holds page 3", "slot 0 holds page 4", "slot 5 holds page 11")),
            entry("PlainCallbacks", List.of("10000 writes, 0 failures")),
            entry("PrioritiesAndDeadlines", List.of("urgent is there", "bulk is there", "expired: ")),
            entry("ReadBytes", List.of("read: the second kilobyte")),
            entry("Reconnect", List.of("connections made: 2")),
            entry("SignalledWrites", List.of("4 layers have arrived; the last: a layer")),
            entry("SpringBootActuator", List.of("health: UP", "meter: sluice.regions")),
            entry(
                    "SurviveALostRank",
                    List.of(
                            "rank 0 has lost ranks [1]",
                            "rank 2 has lost ranks [1]",
                            "rank 0 of 2 in epoch 1",
                            "rank 1 of 2 in epoch 1")),
            entry("VectoredWrites", List.of("5050 bytes in 100 ranges")),
            entry("VertxVerticle", List.of("written by a verticle: a page")),
            entry("WriteBytes", List.of("64 bytes written: hello")));

    @TempDir
    Path folder;

    /** The software GPU is found by the first snippet that looks for one. */
    @BeforeAll
    static void nameTheGpu() {
        System.setProperty(GPU_LIBRARY, SOFT_GPU.toAbsolutePath().toString());
    }

    @AfterAll
    static void forgetTheGpu() {
        System.clearProperty(GPU_LIBRARY);
    }

    @ParameterizedTest
    @MethodSource("runnable")
    void itShowsWhatItSays(String program, List<String> shown) {
        assertThat(runHere(program)).contains(shown);
    }

    /** The JVM ends with the snippet. */
    @ParameterizedTest
    @Tag("soak")
    @MethodSource("runnable")
    void itRunsAndShowsWhatItSays(String program, List<String> shown) throws IOException {
        assertThat(run(program)).contains(shown);
    }

    private static String runHere(String program) {
        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            Thread.ofPlatform().daemon().name(program).start(() -> {
                try {
                    SnippetLauncher.main(new String[] {program});
                    ended.complete(null);
                } catch (Throwable failure) {
                    ended.completeExceptionally(failure);
                }
            });
            Patience.await(ended);
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    private static Stream<Arguments> runnable() {
        return SHOWN.entrySet().stream().map(program -> arguments(program.getKey(), program.getValue()));
    }

    @Test
    void twoProcessesMeet() throws IOException {
        Process receiver = new ProcessBuilder(command("TwoProcesses", "receive"))
                .redirectError(folder.resolve("errors").toFile())
                .start();
        // not closed here: that waits for a line that is being read
        BufferedReader printed = receiver.inputReader();
        try {
            String[] offer = line(printed).split(" ");
            run("TwoProcesses", "send", offer[0], offer[1]);
            assertThat(line(printed)).startsWith("received: hello from process ");
            assertThat(Patience.exit(receiver)).isZero();
        } finally {
            receiver.destroyForcibly();
        }
    }

    /** The next line of the receiver's; where it has ended, what it has said of that. */
    private String line(BufferedReader printed) {
        return Patience.await(CompletableFuture.supplyAsync(() -> {
            try {
                String line = printed.readLine();
                if (line == null) {
                    throw new AssertionError(Files.readString(folder.resolve("errors")));
                }
                return line;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }));
    }

    @Test
    @Tag("soak")
    void anEngineIsFoundInEtcd() throws IOException {
        Path etcd = ServerProcess.find("etcd")
                .orElseGet(() -> abort("there is no etcd: install Debian's package etcd-server, or use ./sluice test"));
        int port = FreePort.any();
        String client = "http://127.0.0.1:" + port;
        String peer = "http://127.0.0.1:" + FreePort.any();
        try (ServerProcess server = ServerProcess.start(
                folder,
                port,
                etcd.toString(),
                "--data-dir=" + folder.resolve("data"),
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=default=" + peer,
                "--unsafe-no-fsync")) {
            assertThat(run("EtcdDiscovery", client)).contains("written: found by name");
        }
    }

    @Test
    void whatCannotBePrintedIsAFailure() throws IOException {
        Path errors = folder.resolve("errors");
        Process process = new ProcessBuilder(command("WriteBytes"))
                .redirectOutput(Path.of("/dev/full").toFile())
                .redirectError(errors.toFile())
                .start();
        assertThat(Patience.exit(process)).isEqualTo(1);
        assertThat(Files.readString(errors)).contains("standard output could not be written");
    }

    @Test
    void noneIsLeftOut() throws IOException {
        Collection<String> tested = new TreeSet<>(SHOWN.keySet());
        tested.addAll(List.of("EtcdDiscovery", "TwoProcesses"));
        assertThat(programs().map(SnippetsTest::nameOf)).containsExactlyInAnyOrderElementsOf(tested);
    }

    @ParameterizedTest
    @MethodSource("programs")
    void itIsShortAndSaysHowItIsRun(Path program) throws IOException {
        assertThat(Files.readAllLines(program)).hasSizeBetween(20, 80);
        assertThat(Files.readString(program)).contains("./sluice snippet " + nameOf(program));
    }

    private static Stream<Path> programs() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files
                    .filter(file -> Files.isRegularFile(file) && !file.endsWith("package-info.java"))
                    .toList()
                    .stream();
        }
    }

    private static String nameOf(Path program) {
        return program.getFileName().toString().replace(".java", "");
    }

    private String run(String... programAndArguments) throws IOException {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(command(programAndArguments))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            int status = Patience.exit(process);
            String printed = Files.readString(output);
            assertThat(status).as("it prints: %s", printed).isZero();
            return printed;
        } finally {
            process.destroyForcibly();
        }
    }

    private static List<String> command(String... programAndArguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path")));
        if (List.of(programAndArguments).contains("KernelLaunch")) {
            command.add(1, "-D" + GPU_LIBRARY + "=" + SOFT_GPU.toAbsolutePath());
        }
        command.add("io.sluice.snippets.launch.SnippetLauncher");
        command.addAll(List.of(programAndArguments));
        return command;
    }
}
