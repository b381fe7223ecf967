package io.sluice.samples.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.samples.compare.LoopbackPort;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/**
 * The archive that {@code ./sluice package} makes, on a host that has neither Java nor a compiler nor the checkout. In every
 * run of continuous integration a program of such an archive replays a trace.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("soak")
class PackageTest {

    private static final long MOST_BYTES = 45_000_000;
    private static final String PROGRAM = System.getProperty("sluice.test.program", "");

    /** The tools of the host. */
    private static final List<String> HOST = List.of(
            "bash",
            "sh",
            "env",
            "dirname",
            "readlink",
            "timeout",
            "taskset",
            "sed",
            "sha256sum",
            "stat",
            "cat",
            "mkdir");

    @TempDir
    private static Path folder;

    private static Path checkout;
    private static Path unpacked;

    @BeforeAll
    static void packs() throws Exception {
        assumeTrue(!PROGRAM.isEmpty() && Files.exists(Path.of(PROGRAM)), "the program is not packaged");
        String compiler = System.getenv().containsKey("CC")
                ? System.getenv("CC")
                : find("cc").toString();
        folder = folder.toRealPath();
        checkout = checkout();
        Map<String, String> environment = Map.of(
                "PATH", System.getenv("PATH"),
                "CC", compiler,
                "SLUICE_JAVA_HOME", System.getProperty("java.home"));
        String said =
                run(environment, List.of("bash", checkout.resolve("sluice").toString(), "package"), 0);
        Path archive = Path.of(said.lines().toList().getLast().replaceFirst(": \\d+ MB$", ""));
        assertThat(archive).hasParent(checkout.resolve("target"));
        assertThat(archive.getFileName().toString()).matches("sluice-.*-linux-[^-]*\\.tar\\.gz");
        assertThat(Files.size(archive)).isLessThan(MOST_BYTES);
        Path host = Files.createDirectory(folder.resolve("an other place"));
        run(environment, List.of("tar", "-xzf", archive.toString(), "-C", host.toString()), 0);
        // what still led there would fail
        checkout = Files.move(checkout, folder.resolve("gone"));
        try (Stream<Path> content = Files.list(host)) {
            List<Path> all = content.toList();
            assertThat(all).hasSize(1);
            unpacked = all.getFirst();
        }
    }

    /** Its stamp is newer than all that it has, so that nothing is built. */
    private static Path checkout() throws IOException {
        Path made = Files.createDirectory(folder.resolve("checkout"));
        Path original = Path.of("..").toRealPath();
        for (String file : List.of("sluice", "LICENSE", "pom.xml")) {
            Files.copy(original.resolve(file), made.resolve(file));
        }
        for (String sources : List.of("samples/package", "samples/tools/src/main/c", "native/src/main/c/cuda")) {
            copy(original.resolve(sources), made.resolve(sources));
        }
        Path app = Files.createDirectories(made.resolve("target/launcher/app"));
        Path program = Path.of(PROGRAM).toRealPath();
        Files.copy(program, app.resolve("sluice-samples.jar"));
        copy(program.resolveSibling("lib"), app.resolve("lib"));
        Files.createFile(made.resolve("target/launcher/stamp"));
        // as compiled for the tests of those modules
        for (String compiled : List.of(
                "engine/cuda/target/test-classes",
                "engine/cuda/target/test-class-path",
                "engine/testkit/target/classes",
                "native/target/native-objects/libsoftgpu.so",
                "native/target/native-objects/libsoftadapter.so")) {
            copy(original.resolve(compiled), made.resolve(compiled));
        }
        return made;
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    @Test
    void listsItsCommands() throws Exception {
        assertThat(sluice("--help")).contains("demo", "bench", "compare", "info");
    }

    @Test
    void describesTheMachine() throws Exception {
        assertThat(sluice("info")).contains("tcp", "shm").doesNotContain("development");
    }

    @Test
    void movesPages() throws Exception {
        assertThat(sluice("demo", "--duration", "100ms")).contains("The writes alone, over shm");
    }

    @Test
    void measures() throws Exception {
        String said = sluice(
                "bench",
                "--loopback",
                "--transport",
                "tcp",
                "--size",
                "4KiB",
                "--verify",
                "--warmup",
                "10ms",
                "--duration",
                "50ms",
                "--json",
                "-");
        assertThat(said).contains("\"transport\":\"tcp\"").doesNotContain("is not known");
    }

    @Test
    void comparesWithTheCProgramThatItBrings() throws Exception {
        Path page = folder.resolve("page.html");
        String said = sluice(
                "compare",
                "--only",
                "read-8B/ping-pong",
                "--api",
                "engine",
                "--rounds",
                "1",
                "--duration",
                "50ms",
                "--warmup",
                "0",
                "--html",
                page.toString());
        assertThat(said).contains("read-8B/ping-pong").doesNotContain("left out");
        assertThat(page).content().contains("echarts.init");
    }

    @Test
    void testsMappedMemoryOfGpusInSoftware() throws Exception {
        assertThat(sluice("gpu-test", "--software", "MappedRegionTest"))
                .containsPattern("MappedRegionTest: .* [1-9]\\d* tests successful, 0 tests failed\n");
    }

    @Test
    void testsGpusInSoftware() throws Exception {
        assertThat(sluice("gpu-test", "--software", "GpuInfoTest"))
                .containsPattern(
                        "GpuInfoTest: 0 tests skipped, 0 tests aborted, [1-9]\\d* tests successful, 0 tests failed\n");
        assertThat(folder.resolve("sluice-gpu-test/GpuInfoTest.txt")).isNotEmptyFile();
        assertThat(sluice(64, "gpu-test", "--hardware")).contains("knows no option --hardware");
    }

    @Test
    void hasNoHazelcast() throws Exception {
        assertThat(sluice(1, moverOfACluster())).contains("there is no Hazelcast here");
    }

    private static String[] moverOfACluster() {
        return new String[] {
            "mover",
            "--role",
            "decode",
            "--http-port",
            "0",
            "--until-input-ends",
            "--cluster",
            "127.0.0.1:" + LoopbackPort.free()
        };
    }

    /** The last, as the jars stay. */
    @Test
    @Order(Integer.MAX_VALUE)
    void joinsAClusterWithTheJarsOfHazelcast() throws Exception {
        try (Stream<Path> jars = Files.list(Path.of(PROGRAM).resolveSibling("lib"))) {
            for (Path jar : jars.filter(jar -> jar.getFileName().toString().contains("hazelcast-"))
                    .toList()) {
                Files.copy(jar, unpacked.resolve("lib").resolve(jar.getFileName()));
            }
        }
        assertThat(sluice(0, moverOfACluster())).contains("decode/a at http://127.0.0.1:");
    }

    @Test
    void hasLicences() {
        assertThat(unpacked.resolve("LICENSE")).isNotEmptyFile();
        assertThat(unpacked.resolve("README")).content().hasLineCount(2);
        assertThat(unpacked.resolve("runtime/legal/java.base")).isNotEmptyDirectory();
    }

    @Test
    void leadsNowhereElse() throws IOException {
        List<byte[]> places = Stream.of(
                        folder.resolve("checkout"), Path.of("..").toRealPath())
                .map(place -> place.toString().getBytes(StandardCharsets.UTF_8))
                .toList();
        try (Stream<Path> files = Files.walk(unpacked)) {
            assertThat(files).allSatisfy(file -> {
                if (Files.isSymbolicLink(file)) {
                    assertThat(file.toRealPath()).startsWith(unpacked.toRealPath());
                } else if (Files.isRegularFile(file)) {
                    byte[] content = Files.readAllBytes(file);
                    assertThat(places).as("%s", file).noneMatch(place -> contains(content, place));
                }
            });
        }
    }

    private static boolean contains(byte[] content, byte[] wanted) {
        String text = new String(content, StandardCharsets.ISO_8859_1);
        return text.contains(new String(wanted, StandardCharsets.ISO_8859_1));
    }

    @Test
    void whatIsWrongIsSaidWithAWayOut() throws Exception {
        Map<String, String> environment =
                Map.of("PATH", System.getenv("PATH"), "SLUICE_JAVA_HOME", System.getProperty("java.home"));
        String launcher = checkout.resolve("sluice").toString();
        assertThat(run(environment, List.of("bash", launcher, "package", "--help"), 0))
                .contains("Usage: ./sluice package");
        assertThat(run(environment, List.of("bash", launcher, "package", "more"), 64))
                .contains("--help");
    }

    /** Returns the program's output on a host with only the tools of every Linux. */
    private static String sluice(String... arguments) throws IOException, InterruptedException {
        return sluice(0, arguments);
    }

    private static String sluice(int status, String... arguments) throws IOException, InterruptedException {
        Path tools = folder.resolve("host");
        if (Files.notExists(tools)) {
            Files.createDirectory(tools);
            for (String name : HOST) {
                Path tool = Files.writeString(tools.resolve(name), "#!/bin/sh\nexec '" + find(name) + "' \"$@\"\n");
                assertThat(tool.toFile().setExecutable(true)).isTrue();
            }
        }
        List<String> command =
                new ArrayList<>(List.of(unpacked.resolve("bin/sluice").toString()));
        command.addAll(List.of(arguments));
        return run(Map.of("PATH", tools.toString(), "HOME", folder.toString()), command, status);
    }

    /** Runs a process with only these variables; returns its output on both streams. */
    private static String run(Map<String, String> environment, List<String> command, int status)
            throws IOException, InterruptedException {
        Path said = Files.createTempFile(folder, "said", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(said.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            boolean ended = process.waitFor(Patience.longBound().toSeconds(), TimeUnit.SECONDS);
            assertThat(ended).as(() -> "it ends: " + command).isTrue();
            assertThat(process.exitValue()).as(() -> read(said)).isEqualTo(status);
            return Files.readString(said);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path find(String tool) {
        return Stream.of(System.getenv("PATH").split(":"))
                .map(part -> Path.of(part, tool))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new TestAbortedException("no " + tool));
    }
}
