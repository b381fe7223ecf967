package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.samples.kvcache.PageSeal;
import io.sluice.samples.trace.RecordedTrace;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The replay command as its users run it: two processes. */
class ReplayProgramTest {

    private static final int LAYERS = 24;
    private static final int PAGE_BYTES = 8192;
    private static final int RECORDED_REQUESTS = "soak".equals(System.getProperty("sluice.test.profile")) ? 5 : 2;

    /** Room for 64 pages in each layer, so that the requests of {@link #TRACE} have to go one after the other. */
    private static final String ROOM_FOR_ONE = Long.toString(64L * LAYERS * PAGE_BYTES);

    private static final String TRACE = """
            {"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]}
            {"timestamp": 0, "input_length": 1000, "output_length": 1, "hash_ids": [1, 3]}
            {"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]}
            {"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1]}
            {"timestamp": 0, "input_length": 15, "output_length": 1, "hash_ids": [9]}
            """;

    @TempDir
    private Path folder;

    private Path trace;
    private Path json;

    @BeforeEach
    void writeTrace() throws IOException {
        trace = Files.writeString(folder.resolve("trace.jsonl"), TRACE);
        json = folder.resolve("out.json");
    }

    @Test
    void everyPageIsAccountedForAndWentOverTheWire() throws IOException {
        long sentBefore = LoopbackCounter.sentBytes();
        try (SluiceProcess replay = SluiceProcess.run(
                folder,
                "replay",
                "--transport",
                "tcp",
                "--trace",
                trace.toString(),
                "--pool",
                ROOM_FOR_ONE,
                "--json",
                json.toString())) {
            assertThat(replay.awaitEnd()).as(replay::toString).isZero();
            JsonNode summary = SluiceProcess.json(json);
            // Moved: all of the first; the second's second block, 30 whole pages; the third's second block again, which
            // had to go for the one before. All others have their first block from the first.
            assertThat(summary.get("requests").asLong()).isEqualTo(5);
            assertThat(summary.get("pages_moved").asLong()).isEqualTo((64 + 30 + 32) * LAYERS);
            assertThat(summary.get("pages_reused").asLong()).isEqualTo((32 + 32 + 32) * LAYERS);
            assertThat(summary.get("corrupted_pages").asLong()).isZero();
            assertThat(summary.get("page_bytes").asLong()).isEqualTo((64L + 30 + 32) * LAYERS * PAGE_BYTES);
            assertThat(summary.get("bytes").asLong())
                    .isEqualTo((64L + 30 + 32) * LAYERS * (PAGE_BYTES + PageSeal.BYTES));
            assertThat(summary.get("transport").asText()).isEqualTo("tcp");
            assertThat(summary.get("interrupted").asBoolean(true)).isFalse();
            assertThat(summary.get("seconds").asDouble()).isPositive();
            assertThat(summary.get("gigabytes_per_second").asDouble()).isPositive();
            assertThat(summary.get("transfer_ms").get("p99").asDouble())
                    .isGreaterThanOrEqualTo(
                            summary.get("transfer_ms").get("p50").asDouble());
            assertThat(summary.get("max_inflight_ops_seen").asLong()).isBetween(1L, 256L);
            assertThat(summary.get("max_inflight_bytes_seen").asLong()).isBetween((long) PAGE_BYTES, 64L << 20);
            assertThat(LoopbackCounter.sentBytes() - sentBefore)
                    .isGreaterThanOrEqualTo(summary.get("bytes").asLong());
            assertThat(replay.out()).contains("pages moved", "3,024", "pages reused", "2,304");
            // a busy machine may well be warned of
            assertThat(replay.err()).contains("5 requests,").doesNotContain("ERROR", "Exception");
        }
    }

    @Test
    @Tag("soak")
    void theRecordedTraceMoves() throws IOException {
        Path recorded = RecordedTrace.file();
        try (SluiceProcess replay = SluiceProcess.run(
                folder,
                "replay",
                "--trace",
                recorded.toString(),
                "--model",
                "qwen2.5-0.5b",
                "--requests",
                Integer.toString(RECORDED_REQUESTS),
                "--pool",
                "512MiB",
                "--json",
                json.toString())) {
            assertThat(replay.awaitEnd()).as(replay::toString).isZero();
            JsonNode summary = SluiceProcess.json(json);
            assertThat(summary.get("requests").asLong()).isEqualTo(RECORDED_REQUESTS);
            assertThat(summary.get("corrupted_pages").asLong()).isZero();
            assertThat(summary.get("pages_moved").asLong()
                            + summary.get("pages_reused").asLong())
                    .isEqualTo(pagesOf(recorded, RECORDED_REQUESTS) * LAYERS);
        }
    }

    @Test
    @Tag("soak")
    void aMalformedLineIsNamedAndEndsTheRun() throws IOException {
        Files.writeString(trace, TRACE + "{\"timestamp\": oops\n");
        try (SluiceProcess replay =
                SluiceProcess.run(folder, "replay", "--trace", trace.toString(), "--pool", ROOM_FOR_ONE)) {
            assertThat(replay.awaitEnd()).as(replay::toString).isEqualTo(ExitCodes.USAGE);
            assertThat(replay.err())
                    .contains("trace.jsonl, line 6: ", "--lenient")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    @Tag("soak")
    void aMalformedLineIsLeftOutAndCounted() throws IOException {
        Files.writeString(trace, "nothing\n" + TRACE);
        try (SluiceProcess replay = SluiceProcess.run(
                folder,
                "replay",
                "--trace",
                trace.toString(),
                "--lenient",
                "--pool",
                ROOM_FOR_ONE,
                "--json",
                json.toString())) {
            assertThat(replay.awaitEnd()).as(replay::toString).isZero();
            assertThat(replay.err()).contains("left out line 1: ");
            assertThat(SluiceProcess.json(json).get("trace_lines_skipped").asLong())
                    .isEqualTo(1);
            assertThat(SluiceProcess.json(json).get("requests").asLong()).isEqualTo(5);
        }
    }

    @Test
    @Tag("soak")
    void aPoolThatARequestNeverFitsIntoIsNamed() throws IOException {
        try (SluiceProcess replay =
                SluiceProcess.run(folder, "replay", "--trace", trace.toString(), "--pool", "1MiB")) {
            assertThat(replay.awaitEnd()).as(replay::toString).isEqualTo(ExitCodes.USAGE);
            assertThat(replay.err()).contains("give --pool 12MiB or more").doesNotContain("\tat ");
        }
    }

    private static long pagesOf(Path recorded, int requests) throws IOException {
        long pages = 0;
        try (BufferedReader lines = Files.newBufferedReader(recorded)) {
            for (int i = 0; i < requests; i++) {
                String line = lines.readLine();
                pages += Long.parseLong(line.replaceAll(".*\"input_length\": (\\d+).*", "$1")) / 16;
            }
        }
        return pages;
    }
}
