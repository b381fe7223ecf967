package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The findings of bench: allocation, transfers in flight, and bytes that differ from those sent. */
class BenchFindingsTest {

    /** Bytes that a measurement allocates apart from its transfers, such as for classes that are loaded late. */
    private static final long OTHER_BYTES = 128 << 10;

    /** Long enough that one object for each transfer is more than those bytes. */
    private static final String MEASURED = BenchProgramTest.millis(250);

    /** Until the compiler is through with what is measured. */
    private static final String WARMUP = BenchProgramTest.millis(100);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"writev, reactor", "readv, engine", "writev, engine"})
    void whatIsInFlightIsCountedInElementsByTheOtherInterface(String operation, String api) throws IOException {
        whatIsInFlightIsCountedInElements(operation, api);
    }

    /** Vectored transfers of more elements than may be in flight, and large elements: the window bounds both. */
    @ParameterizedTest
    @Tag("soak")
    @CsvSource("readv, reactor")
    void whatIsInFlightIsCountedInElements(String operation, String api) throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder,
                "bench",
                "--loopback",
                "--transport",
                "tcp",
                "--op",
                operation,
                "--api",
                api,
                "--iov",
                "256",
                "--inflight",
                Integer.toString(BenchProgramTest.IN_FLIGHT),
                "--size",
                "8,1MiB",
                "--duration",
                BenchProgramTest.SHORT,
                "--warmup",
                "0",
                "--verify",
                "--json",
                "-")) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            List<JsonNode> lines = SluiceProcess.jsonLines(bench.out());
            assertThat(lines).allSatisfy(line -> {
                assertThat(line.get("verified").asBoolean()).isTrue();
                assertThat(line.get("max_inflight_ops_seen").asInt()).isLessThanOrEqualTo(BenchProgramTest.IN_FLIGHT);
            });
            assertThat(lines.getFirst().get("max_inflight_ops_seen").asInt()).isEqualTo(BenchProgramTest.IN_FLIGHT);
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"read", "readv", "writev", "fetch-add", "signal"})
    void theEnginesInterfaceAllocatesNothingForTheOtherTransfers(String operation) throws IOException {
        theEnginesInterfaceAllocatesNothingForATransfer(operation);
    }

    @ParameterizedTest
    @ValueSource(strings = "write")
    void theEnginesInterfaceAllocatesNothingForATransfer(String operation) throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder,
                "bench",
                "--loopback",
                "--transport",
                "tcp",
                "--op",
                operation,
                "--api",
                "engine",
                "--size",
                "8",
                "--duration",
                MEASURED,
                "--warmup",
                WARMUP,
                "--json",
                "-")) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            JsonNode line = SluiceProcess.jsonLines(bench.out()).getFirst();
            // The least object is of 16 bytes.
            long elements = line.get("elements").asLong();
            double bytes = line.get("allocated_bytes_per_transfer").asDouble()
                    * line.get("transfers").asLong();
            assertThat(bytes).isLessThan(8.0 * elements + OTHER_BYTES);
        }
    }

    /** The short run has that of the reactive module, {@code AllocationTest}. */
    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"write", "read", "signal", "fetch-add"})
    void reactorsAllocatesLittle(String operation) throws IOException {
        try (SluiceProcess bench = SluiceProcess.run(
                folder,
                "bench",
                "--loopback",
                "--transport",
                "tcp",
                "--op",
                operation,
                "--api",
                "reactor",
                "--size",
                "8",
                "--duration",
                MEASURED,
                "--warmup",
                WARMUP,
                "--json",
                "-")) {
            assertThat(bench.awaitEnd()).as(bench::toString).isZero();
            JsonNode line = SluiceProcess.jsonLines(bench.out()).getFirst();
            long transfers = line.get("transfers").asLong();
            assertThat(line.get("allocated_bytes_per_transfer").asDouble())
                    .isLessThanOrEqualTo(400 + (double) OTHER_BYTES / transfers);
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({
        "read, engine, 64KiB, WRITTEN_PAGE",
        "fetch-add, reactor, 8, FETCHED_VALUE",
        "writev, engine, 64KiB, WRITTEN_PAGE",
        "fetch-add, engine, 8, FETCHED_VALUE",
        "fetch-add, engine, 8, FETCH_ADD_ADDEND"
    })
    void aFlippedBitIsFoundByTheOtherInterface(String operation, String api, String size, FlippingProxy.Victim victim)
            throws IOException {
        aFlippedBitIsFound(operation, api, size, victim);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"read, reactor, 64KiB, READ_PAGE", "signal, reactor, 8, SIGNAL_ADDEND"})
    void aFlippedBitOfOtherTransfersIsFound(String operation, String api, String size, FlippingProxy.Victim victim)
            throws IOException {
        aFlippedBitIsFound(operation, api, size, victim);
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource("write, engine, 64KiB, WRITTEN_PAGE")
    void aFlippedBitIsFound(String operation, String api, String size, FlippingProxy.Victim victim) throws IOException {
        Path ready = folder.resolve("ready.json");
        Path json = folder.resolve("out.json");
        try (SluiceProcess serve = SluiceProcess.start(
                folder, "serve", "--listen", "127.0.0.1:0", "--memory", "128MiB", "--ready-file", ready.toString())) {
            try (FlippingProxy proxy =
                    FlippingProxy.inFrontOf(serve.awaitReady(ready).get("port").asInt(), victim)) {
                ProgramRun bench = ProgramRun.of(
                        "bench",
                        "--connect",
                        "127.0.0.1:" + proxy.port(),
                        "--transport",
                        "tcp",
                        "--op",
                        operation,
                        "--api",
                        api,
                        "--size",
                        size,
                        "--duration",
                        BenchProgramTest.millis(60),
                        "--warmup",
                        BenchProgramTest.millis(30),
                        "--verify",
                        "--json",
                        json.toString());
                assertThat(bench.status()).as(bench::toString).isEqualTo(ExitCodes.FAILED);
                assertThat(proxy.hasFlipped()).isTrue();
                assertThat(bench.err()).contains("elements that differ from those sent: ");
                JsonNode line = SluiceProcess.json(json);
                assertThat(line.get("verified").asBoolean(true)).isFalse();
                assertThat(line.get("errors").asLong(-1)).isZero();
            }
        }
    }
}
