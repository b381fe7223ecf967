package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.samples.FreePort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A replay whose decode process is killed and started again while pages move. */
class ReplayReconnectTest {

    private static final int LAYERS = 24;
    private static final int REQUESTS = 100;
    private static final int PAGES = 1024 / 16;
    private static final int MILLIS_BETWEEN = 100;

    /** Room for four requests. */
    private static final String POOL = Long.toString(4L * PAGES * LAYERS * 8192);

    private final int port = FreePort.any();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void theRunGoesOnByItself(String transport) throws Exception {
        Path json = folder.resolve("out.json");
        SluiceProcess decode = decode(transport);
        try (SluiceProcess replay = SluiceProcess.start(
                folder,
                "replay",
                "--transport",
                transport,
                "--connect",
                "127.0.0.1:" + port,
                "--reconnect",
                "50s",
                "--trace",
                trace().toString(),
                "--speed",
                "1",
                "--metrics-port",
                "0",
                "--json",
                json.toString())) {
            String metrics = MetricsProgramTest.url(replay) + "/metrics";
            for (int kill = 0; kill < 2; kill++) {
                awaitPages(replay, metrics);
                decode.close();
                decode = decode(transport);
            }
            assertThat(replay.awaitEnd()).as(replay::toString).isZero();
            JsonNode summary = SluiceProcess.json(json);
            assertThat(summary.get("requests").asLong()).isEqualTo(REQUESTS);
            assertThat(summary.get("corrupted_pages").asLong()).isZero();
            assertThat(summary.get("pages_moved").asLong()
                            + summary.get("pages_reused").asLong())
                    .isEqualTo((long) REQUESTS * PAGES * LAYERS);
            assertThat(summary.get("reconnects").asLong()).isGreaterThanOrEqualTo(2);
            assertThat(replay.out()).contains("reconnects", "requests repeated", "pages repeated");
        } finally {
            decode.close();
        }
    }

    @Test
    void aDecodeSideThatStaysAwayEndsTheRunInTime() throws IOException {
        try (SluiceProcess replay = SluiceProcess.run(
                folder,
                "replay",
                "--connect",
                "127.0.0.1:" + port,
                "--reconnect",
                "1s",
                "--trace",
                trace().toString())) {
            assertThat(replay.awaitEnd()).as(replay::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(replay.err()).contains("no connection within").doesNotContain("\tat ");
        }
    }

    private SluiceProcess decode(String transport) throws IOException {
        return SluiceProcess.start(
                folder, "decode", "--listen", "127.0.0.1:" + port, "--transport", transport, "--pool", POOL);
    }

    private Path trace() throws IOException {
        return Files.writeString(
                folder.resolve("trace.jsonl"),
                IntStream.range(0, REQUESTS)
                        .mapToObj(i -> """
                                {"timestamp": %d, "input_length": 1024, "output_length": 1, "hash_ids": [%d, %d]}
                                """.formatted(i * MILLIS_BETWEEN, 2 * i, 2 * i + 1))
                        .collect(Collectors.joining()));
    }

    /** Waits until pages have moved since now. */
    private static void awaitPages(SluiceProcess replay, String metrics) throws Exception {
        double before = bytes(metrics);
        Awaitility.await("pages to move\n" + replay)
                .atMost(SluiceProcess.BOUND)
                .until(() -> bytes(metrics) > before + PAGES * 8192);
    }

    private static double bytes(String metrics) throws Exception {
        return MetricsProgramTest.sum(
                MetricsProgramTest.get(metrics).body(),
                "sluice_transfer_bytes_total\\{.*operation=\"write\".*outcome=\"success\".*\\}");
    }
}
