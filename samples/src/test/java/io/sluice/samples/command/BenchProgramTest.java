package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bench command as its users run it: two processes. */
class BenchProgramTest {

    static final int IN_FLIGHT = 32;

    /** How long is measured: a few in flight take no longer, but a process that gets no processor must get one. */
    static final String SHORT = millis(20);

    @TempDir
    private Path folder;

    static String millis(int onIdleMachine) {
        return Patience.scaled(Duration.ofMillis(onIdleMachine)).toMillis() + "ms";
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("read, 1MiB, single")
    void copiesBetweenTheSameMemoryForOtherTransfers(String operation, String sizes, String buffers)
            throws IOException {
        copiesBetweenTheSameMemory(operation, sizes, buffers);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("write, 16;64KiB, distinct")
    void copiesBetweenTheSameMemory(String operation, String sizes, String buffers) throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder,
                "bench",
                "--loopback",
                "--transport=shm",
                "--memcpy",
                "--op=" + operation,
                "--size=" + sizes.replace(';', ','),
                "--buffers=" + buffers,
                "--duration=" + SHORT,
                "--warmup=0",
                "--verify",
                "--json=-")) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            List<JsonNode> lines = SluiceProcess.jsonLines(bench.out());
            assertThat(lines).hasSameSizeAs(sizes.split(";", -1));
            assertThat(lines).allMatch(line -> line.get("verified").asBoolean());
            assertThat(lines)
                    .allMatch(line -> line.get("memcpy_gigabytes_per_second").asDouble() > 0);
            assertThat(bench.err()).contains("memcpy");
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "shm")
    void connectionsAreMadeOneAfterTheOtherOverTheOtherTransport(String transport) throws IOException {
        connectionsAreMadeOneAfterTheOther(transport);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "tcp")
    void connectionsAreMadeOneAfterTheOther(String transport) throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder,
                "bench",
                "--loopback",
                "--transport=" + transport,
                "--op=connect",
                "--duration=" + millis(50),
                "--warmup=0",
                "--json=-")) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            JsonNode line = SluiceProcess.jsonLines(bench.out()).getFirst();
            assertThat(line.get("transport").asText()).isEqualTo(transport);
            assertThat(line.get("transfers").asLong()).isPositive();
            assertThat(line.get("transfers_per_second").asDouble()).isPositive();
            assertThat(line.get("latency_us").get("p50").asDouble()).isPositive();
            assertThat(line.get("bytes").asLong()).isZero();
        }
    }

    @Test
    @Tag("soak")
    void memoryThatIsNotMappedIsNotCopied() throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder, "bench", "--loopback", "--transport=tcp", "--memcpy", "--size=64KiB", "--duration=" + SHORT)) {
            assertThat(bench.awaitEnd()).as(bench::toString).isEqualTo(2);
            assertThat(bench.err()).contains("--memcpy", "not mapped here");
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({
        "read,   reactor, 8;4KiB;1MiB,  distinct",
        "fetch-add, reactor, 8, distinct",
        "signal, engine,  8, distinct",
        "readv,  vertx,   8;4KiB;1MiB,  single",
        "notify, vertx,   8;4KiB;64KiB, single",
        "notify, reactor, 8;4KiB;64KiB, single",
        "fetch-add, vertx, 8, single",
        "fetch-add, engine, 8, single",
        "signal, reactor, 8, single",
        "writev, reactor, 8;4KiB;1MiB,  single",
        "readv,  engine,  8;4KiB;1MiB,  single",
        "write,  vertx,   8;4KiB;1MiB,  distinct"
    })
    void measuresAndVerifiesByTheOtherInterfaces(String operation, String api, String sizes, String buffers)
            throws IOException {
        measuresAndVerifies(operation, api, sizes, buffers);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("notify, vertx, 8;4KiB;64KiB, distinct")
    void measuresAndVerifiesNotifications(String operation, String api, String sizes, String buffers)
            throws IOException {
        measuresAndVerifies(operation, api, sizes, buffers);
    }

    @ParameterizedTest
    @CsvSource("write,  engine,  8;4KiB;1MiB,  single")
    void measuresAndVerifies(String operation, String api, String sizes, String buffers) throws IOException {
        Path json = folder.resolve("out.json");
        List<String> arguments = new ArrayList<>(List.of(
                "bench", "--loopback", "--transport", "tcp", "--op", operation, "--api", api, "--buffers", buffers));
        arguments.addAll(List.of("--size", sizes.replace(';', ','), "--inflight", Integer.toString(IN_FLIGHT)));
        arguments.addAll(List.of("--duration", SHORT, "--warmup", "0", "--verify", "--json", json.toString()));
        try (SluiceProcess bench = SluiceProcess.run(folder, arguments.toArray(String[]::new))) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            List<JsonNode> lines = SluiceProcess.jsonLines(Files.readString(json));
            assertThat(lines).hasSameSizeAs(sizes.split(";", -1));
            assertThat(bench.out().lines()).hasSize(2 + lines.size());
            lines.forEach(line -> assertPlausible(line, operation, api, buffers));
            assertThat(lines.getFirst().get("size").asLong()).isEqualTo(8);
            assertThat(lines.getFirst().get("max_inflight_ops_seen").asLong()).isEqualTo(IN_FLIGHT);
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({
        "write,  engine,  8;64KiB;1MiB,       distinct, registered",
        "write,  reactor, 8;64KiB;1MiB,       distinct, allocated",
        "read,   engine,  8;64KiB;1MiB,       distinct, allocated",
        "notify, engine,  8;4KiB,             single,   allocated",
        "fetch-add, reactor, 8, single,   allocated",
        "signal, engine,     8, single,   allocated",
        "read,   vertx,   8;64KiB;1MiB,       distinct, allocated",
        "readv,  reactor, 8;64KiB;1MiB, single,   registered",
        "read,   reactor, 8;64KiB;65537;1MiB, single,   allocated",
        "readv,  reactor, 8;64KiB;1MiB,       single,   allocated",
        "writev, engine,  8;64KiB;1MiB,       distinct, allocated",
        "signal, vertx,      8, single,   allocated",
        "fetch-add, engine,  8, distinct, allocated"
    })
    void measuresAndVerifiesOverShmByTheOtherInterfaces(
            String operation, String api, String sizes, String buffers, String regions) throws IOException {
        measuresAndVerifiesOverShm(operation, api, sizes, buffers, regions);
    }

    /** Small ones end in the calls that start them, large ones on the poller, and what the engine copies is right. */
    @ParameterizedTest
    @CsvSource("write,  engine,  8;64KiB;65537;1MiB, single,   allocated")
    void measuresAndVerifiesOverShm(String operation, String api, String sizes, String buffers, String regions)
            throws IOException {
        List<String> arguments =
                new ArrayList<>(List.of("bench", "--loopback", "--transport", "shm", "--op", operation, "--api", api));
        arguments.addAll(List.of("--buffers", buffers, "--regions", regions, "--size", sizes.replace(';', ',')));
        arguments.addAll(List.of("--duration", SHORT, "--warmup", "20ms", "--verify", "--json", "-"));
        try (SluiceProcess bench = SluiceProcess.start(
                folder, Map.of("SLUICE_SHM_CROSS_MEMORY_ATTACH", "true"), arguments.toArray(String[]::new))) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            List<JsonNode> lines = SluiceProcess.jsonLines(bench.out());
            assertThat(lines).hasSameSizeAs(sizes.split(";", -1)).allSatisfy(line -> {
                assertThat(line.get("transport").asText()).isEqualTo("shm");
                assertThat(line.get("regions").asText()).isEqualTo(regions);
                assertThat(line.get("verified").asBoolean()).isTrue();
                assertThat(line.get("errors").asLong(-1)).isZero();
                assertThat(line.get("transfers").asLong()).isPositive();
                assertThat(line.get("bytes").asLong())
                        .isEqualTo(
                                line.get("elements").asLong() * line.get("size").asLong());
                assertThat(line.get("latency_us").get("p50").asDouble()).isPositive();
            });
        }
    }

    @Test
    @Tag("soak")
    void severalConnectionsOverShmAreAllDriven() throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder,
                "bench",
                "--loopback",
                "--transport",
                "shm",
                "--connections",
                "3",
                "--size",
                "8,1MiB",
                "--duration",
                millis(30),
                "--warmup",
                "20ms",
                "--verify",
                "--json",
                "-")) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            assertThat(SluiceProcess.jsonLines(bench.out())).hasSize(2).allSatisfy(line -> {
                assertThat(line.get("connections").asInt()).isEqualTo(3);
                assertThat(line.get("verified").asBoolean()).isTrue();
            });
        }
    }

    /** Even while the thread that starts transfers never waits for any. */
    @Test
    @Tag("soak")
    void sigtermEndsWhatIsDrivenByTheCaller() throws IOException {
        try (SluiceProcess bench = SluiceProcess.start(
                folder,
                "bench",
                "--loopback",
                "--transport",
                "shm",
                "--size",
                "8",
                "--warmup",
                "0",
                "--duration",
                "5m",
                "--verify")) {
            bench.awaitChild();
            bench.signal("TERM");
            assertThat(bench.awaitEnd()).as(bench::toString).isEqualTo(143);
        }
    }

    private static void assertPlausible(JsonNode line, String operation, String api, String buffers) {
        assertThat(line.fieldNames())
                .toIterable()
                .containsExactly(
                        "transport",
                        "op",
                        "api",
                        "size",
                        "inflight",
                        "iov",
                        "connections",
                        "buffers",
                        "regions",
                        "memory",
                        "server_memory",
                        "path",
                        "seconds",
                        "transfers",
                        "elements",
                        "bytes",
                        "gigabytes_per_second",
                        "transfers_per_second",
                        "latency_us",
                        "errors",
                        "verified",
                        "max_inflight_ops_seen",
                        "max_inflight_bytes_seen",
                        "client_cpu_seconds",
                        "server_cpu_seconds",
                        "allocated_bytes_per_transfer",
                        "transfer_threads_bytes_per_transfer",
                        "memcpy_gigabytes_per_second");
        assertThat(line.get("latency_us").fieldNames())
                .toIterable()
                .containsExactly("p50", "p90", "p99", "p999", "max");
        assertThat(line.get("transport").asText()).isEqualTo("tcp");
        assertThat(line.get("op").asText()).isEqualTo(operation);
        assertThat(line.get("api").asText()).isEqualTo(api);
        assertThat(line.get("buffers").asText()).isEqualTo(buffers);
        assertThat(line.get("regions").asText()).isEqualTo("allocated");
        assertThat(line.get("verified").isBoolean()).isTrue();
        assertThat(line.get("verified").asBoolean()).isTrue();
        assertThat(line.get("errors").asLong(-1)).isZero();
        assertThat(line.get("seconds").asDouble()).isGreaterThanOrEqualTo(0.02);
        long transfers = line.get("transfers").asLong();
        assertThat(transfers).isPositive();
        assertThat(line.get("elements").asLong())
                .isEqualTo(transfers * line.get("iov").asLong());
        assertThat(line.get("bytes").asLong())
                .isEqualTo(line.get("elements").asLong() * line.get("size").asLong());
        assertThat(line.get("gigabytes_per_second").asDouble()).isPositive();
        assertThat(line.get("latency_us").get("p50").asDouble()).isPositive();
        assertThat(line.get("latency_us").get("max").asDouble())
                .isGreaterThanOrEqualTo(line.get("latency_us").get("p999").asDouble());
        assertThat(line.get("max_inflight_ops_seen").asLong()).isBetween(1L, (long) IN_FLIGHT);
        assertThat(line.get("max_inflight_bytes_seen").asLong()).isPositive();
        assertThat(line.get("server_cpu_seconds").isNumber()).isTrue();
    }

    @Test
    @Tag("soak")
    void severalConnectionsWithoutVerificationOnStandardOutput() throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder,
                "bench",
                "--loopback",
                "--transport",
                "tcp",
                "--connections",
                "3",
                "--size",
                "8",
                "--duration",
                millis(30),
                "--warmup",
                "0",
                "--inflight",
                "7",
                "--json",
                "-")) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            JsonNode line = SluiceProcess.jsonLines(bench.out()).getFirst();
            assertThat(line.get("connections").asInt()).isEqualTo(3);
            assertThat(line.get("max_inflight_ops_seen").asInt()).isEqualTo(7);
            assertThat(line.get("verified").isNull()).isTrue();
            assertThat(bench.err()).contains("write over tcp", "3 connections");
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"writev, engine", "fetch-add, engine", "read, reactor"})
    void measuresOtherTransfersOfMemoryThatIsRegisteredOnBothSides(String operation, String api) throws IOException {
        measuresMemoryThatIsRegisteredOnBothSides(operation, api);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("write, engine")
    void measuresMemoryThatIsRegisteredOnBothSides(String operation, String api) throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder,
                "bench",
                "--loopback",
                "--transport",
                "tcp",
                "--regions",
                "registered",
                "--op",
                operation,
                "--api",
                api,
                "--size",
                "8",
                "--duration",
                SHORT,
                "--warmup",
                "20ms",
                "--verify",
                "--json",
                "-")) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            JsonNode line = SluiceProcess.jsonLines(bench.out()).getFirst();
            assertThat(line.get("regions").asText()).isEqualTo("registered");
            assertThat(line.get("verified").asBoolean()).isTrue();
            assertThat(line.get("transfers").asLong()).isPositive();
            assertThat(bench.err()).contains("in registered memory");
        }
    }

    @Test
    void aRegionThatIsTooSmallIsNamed() throws IOException {
        Path ready = folder.resolve("ready.json");
        try (SluiceProcess serve = SluiceProcess.start(
                folder, "serve", "--listen", "127.0.0.1:0", "--memory", "4KiB", "--ready-file", ready.toString())) {
            String address = "127.0.0.1:" + serve.awaitReady(ready).get("port").asInt();
            ProgramRun bench = ProgramRun.of("bench", "--connect", address, "--size", "1MiB");
            assertThat(bench.status()).as(bench::toString).isEqualTo(ExitCodes.USAGE);
            assertThat(bench.err()).contains("--memory 1048576 or more");
        }
    }

    @Test
    void aKilledOneLeavesNobodyBehindOnItsProcessors() throws IOException {
        String cpu = CpuList.allowed().text().replaceFirst("\\D.*", "");
        try (SluiceProcess bench =
                SluiceProcess.start(folder, "bench", "--loopback", "--cpu", cpu, "--duration", "5m")) {
            ProcessHandle bound = bench.awaitChild();
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> bound.children().findAny().isPresent() || !bound.isAlive());
            assertThat(Files.readString(Path.of("/proc/" + bound.pid() + "/status")))
                    .contains("Cpus_allowed_list:\t" + cpu + "\n");
            ProcessHandle serve = bound.children().findAny().orElseThrow();
            bench.signal("KILL");
            assertGone(bound);
            assertGone(serve);
        }
    }

    private static void assertGone(ProcessHandle process) {
        assertThat(process.onExit().orTimeout(SluiceProcess.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                .succeedsWithin(SluiceProcess.BOUND);
    }
}
