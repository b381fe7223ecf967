package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A replay whose decode process is killed and started again while pages move. The trace comes through a pipe, a part for each
 * decode process: so the run cannot end before the last one is there, however fast or slow the machine is.
 */
class ReplayReconnectTest {

    private static final int LAYERS = 24;
    private static final boolean SOAK = "soak".equals(System.getProperty("sluice.test.profile"));
    private static final int REQUESTS = SOAK ? 100 : 40;
    private static final int PAGES = 1024 / 16;
    private static final int KILLS = SOAK ? 2 : 1;

    /** The pages of one layer of a request; each part of the trace has many times as many. */
    private static final double LEAST_BYTES = PAGES * 8192;

    private static final String BYTES = "sluice_transfer_bytes_total\\{.*operation=\"write\".*outcome=\"success\".*\\}";
    private static final String OPENED = "sluice_connections_opened_total\\{.*\\}";

    /** Room for four requests. */
    private static final String POOL = Long.toString(4L * PAGES * LAYERS * 8192);

    private final int port = FreePort.any();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "shm")
    void theRunGoesOnByItselfOverTheOtherTransport(String transport) throws Exception {
        theRunGoesOnByItself(transport);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "tcp")
    void theRunGoesOnByItself(String transport) throws Exception {
        Path json = folder.resolve("out.json");
        Path pipe = pipe();
        SluiceProcess decode = decode(transport);
        // open for both, so that neither side waits for the other to open it
        try (RandomAccessFile trace = new RandomAccessFile(pipe.toFile(), "rw");
                SluiceProcess replay = SluiceProcess.start(
                        folder,
                        "replay",
                        "--transport",
                        transport,
                        "--connect",
                        "127.0.0.1:" + port,
                        "--reconnect",
                        Patience.BOUND.toSeconds() + "s",
                        "--trace",
                        pipe.toString(),
                        "--metrics-port",
                        "0",
                        "--json",
                        json.toString())) {
            String metrics = MetricsProgramTest.url(replay) + "/metrics";
            int part = REQUESTS / (KILLS + 1);
            double before = 0;
            for (int kill = 0; kill < KILLS; kill++) {
                trace.writeBytes(requests(kill * part, (kill + 1) * part));
                awaitMore(replay, metrics, BYTES, before + LEAST_BYTES);
                decode.close();
                decode = decode(transport);
                // until then pages may still go into the memory of the one that was killed
                awaitMore(replay, metrics, OPENED, kill + 1);
                before = value(metrics, BYTES);
            }
            trace.writeBytes(requests(KILLS * part, REQUESTS));
            trace.close();
            assertThat(replay.awaitEnd(Patience.longBound()))
                    .as(replay::toString)
                    .isZero();
            JsonNode summary = SluiceProcess.json(json);
            assertThat(summary.get("requests").asLong()).isEqualTo(REQUESTS);
            assertThat(summary.get("corrupted_pages").asLong()).isZero();
            assertThat(summary.get("pages_moved").asLong()
                            + summary.get("pages_reused").asLong())
                    .isEqualTo((long) REQUESTS * PAGES * LAYERS);
            assertThat(summary.get("reconnects").asLong()).isGreaterThanOrEqualTo(KILLS);
            assertThat(replay.out()).contains("reconnects", "requests repeated", "pages repeated");
        } finally {
            decode.close();
        }
    }

    @Test
    @Tag("soak")
    void aDecodeSideThatStaysAwayEndsTheRunInTime() throws IOException {
        ProgramRun replay = ProgramRun.of(
                "replay", "--connect", "127.0.0.1:" + port, "--reconnect", "1s", "--trace", trace().toString());
        assertThat(replay.status()).as(replay::toString).isEqualTo(ExitCodes.FAILED);
        assertThat(replay.err()).contains("no connection within").doesNotContain("\tat ");
    }

    private SluiceProcess decode(String transport) throws IOException {
        return SluiceProcess.start(
                folder, "decode", "--listen", "127.0.0.1:" + port, "--transport", transport, "--pool", POOL);
    }

    private Path trace() throws IOException {
        return Files.writeString(folder.resolve("trace.jsonl"), requests(0, REQUESTS));
    }

    private Path pipe() throws Exception {
        Path pipe = folder.resolve("trace.pipe");
        Process made = new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start();
        assertThat(Patience.exit(made)).isZero();
        return pipe;
    }

    private static String requests(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> """
                        {"timestamp": %d, "input_length": 1024, "output_length": 1, "hash_ids": [%d, %d]}
                        """.formatted(i, 2 * i, 2 * i + 1))
                .collect(Collectors.joining());
    }

    private static void awaitMore(SluiceProcess replay, String metrics, String series, double than) {
        Awaitility.await("more than " + than + " of " + series + "\n" + replay)
                .atMost(SluiceProcess.BOUND)
                .until(() -> value(metrics, series) > than);
    }

    private static double value(String metrics, String series) throws Exception {
        return MetricsProgramTest.sum(MetricsProgramTest.get(metrics).body(), series);
    }
}
