package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replay to a decode process that runs by itself, with a proxy in between. */
class CorruptionTest {

    @TempDir
    private Path folder;

    @Test
    void aFlippedBitIsFoundAsACorruptedPage() throws IOException {
        Path ready = folder.resolve("ready.json");
        Path json = folder.resolve("out.json");
        try (SluiceProcess decode = SluiceProcess.start(
                folder, "decode", "--listen", "127.0.0.1:0", "--pool", "256MiB", "--ready-file", ready.toString())) {
            int port = decode.awaitReady(ready).get("port").asInt();
            try (FlippingProxy proxy = FlippingProxy.inFrontOf(port, FlippingProxy.Victim.WRITTEN_PAGE)) {
                ProgramRun replay = ProgramRun.of(
                        "replay",
                        "--connect",
                        "127.0.0.1:" + proxy.port(),
                        "--transport",
                        "tcp",
                        "--requests",
                        "10",
                        "--json",
                        json.toString());
                assertThat(replay.status()).as(replay::toString).isEqualTo(ExitCodes.FAILED);
                assertThat(proxy.hasFlipped()).isTrue();
                JsonNode summary = SluiceProcess.json(json);
                assertThat(summary.get("requests").asLong()).isEqualTo(10);
                assertThat(summary.get("corrupted_pages").asLong()).isEqualTo(1);
                assertThat(replay.err()).contains("corrupted pages: 1;");
            }
            // The decode process goes on, and serves the next.
            ProgramRun next = ProgramRun.of("replay", "--connect", "127.0.0.1:" + port, "--requests", "3");
            assertThat(next.status()).as(next::toString).isZero();
            // It reports once it has seen the connection end, which may be after the other process has.
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> decode.out().contains("Received 3 requests")
                            || !decode.handle().isAlive());
            decode.signal("TERM");
            assertThat(decode.awaitEnd()).isEqualTo(143);
            assertThat(decode.out()).contains("Received 10 requests", "1 of them corrupted", "Received 3 requests");
            assertThat(decode.err()).contains("differs from the page that was sent");
            assertThat(ready).doesNotExist();
        }
    }
}
