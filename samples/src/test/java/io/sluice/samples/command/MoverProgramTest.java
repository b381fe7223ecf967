package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code sluice mover} in a process of its own. */
class MoverProgramTest {

    private static final Pattern DECODE = Pattern.compile("decode/b at (http://127\\.0\\.0\\.1:\\d+)");
    private static final Pattern PREFILL = Pattern.compile("prefill/b at (http://127\\.0\\.0\\.1:\\d+)");

    @TempDir
    private Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    @Test
    void blocksMoveFromThePrefillToTheDecode() throws Exception {
        try (SluiceProcess mover =
                SluiceProcess.start(folder, "mover", "--http-port", "0", "--name", "b", "--pool", "48MiB")) {
            String prefill = url(mover, PREFILL);
            String decode = url(mover, DECODE);
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> get(decode + "/api/peers").body().contains("prefill/b"));
            HttpResponse<String> taken = client.send(
                    HttpRequest.newBuilder(URI.create(decode + "/api/moves"))
                            .header("Content-Type", "application/json")
                            .POST(BodyPublishers.ofString("{\"from\": \"prefill/b\", \"pool\": \"kv\", \"count\": 4}"))
                            .timeout(SluiceProcess.BOUND)
                            .build(),
                    BodyHandlers.ofString());
            assertThat(taken.statusCode()).as(taken.body()).isEqualTo(202);
            String id = json(taken).get("id").asText();
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> json(get(decode + "/api/moves/" + id))
                            .get("state")
                            .asText()
                            .equals("DONE"));
            assertThat(json(get(decode + "/api/moves/" + id)).get("blocksDone").asInt())
                    .isEqualTo(4);
            assertThat(get(prefill + "/health/ready").statusCode()).isEqualTo(200);
            assertThat(get(decode + "/metrics").body())
                    .contains("sluice_transfer_bytes_total{engine=\"decode/b\"", "jvm_memory_used_bytes{");
            mover.signal("TERM");
            assertThat(mover.awaitEnd()).as(mover::toString).isEqualTo(143);
        }
    }

    @Test
    void whatLiesInTheWorkingDirectoryIsNotServed() throws Exception {
        Path directory = Files.createDirectory(folder.resolve("cwd"));
        Path mover = Files.createDirectories(directory.resolve("io/sluice/samples/mover"));
        Files.createDirectory(mover.resolve("page"));
        for (String name : List.of("openapi.yaml", "page/index.html", "page/page.js", "page/secret.txt")) {
            Files.writeString(mover.resolve(name), "planted");
        }
        try (SluiceProcess program = SluiceProcess.startIn(
                directory, folder, "mover", "--http-port", "0", "--name", "b", "--pool", "48MiB")) {
            String decode = url(program, DECODE);
            assertThat(get(decode + "/").body()).startsWith("<!DOCTYPE html>");
            assertThat(get(decode + "/page.js").body())
                    .doesNotContain("planted")
                    .contains("EventSource");
            assertThat(get(decode + "/openapi.yaml").body()).startsWith("openapi:");
            assertThat(get(decode + "/secret.txt").statusCode()).isEqualTo(404);
        }
    }

    @Test
    @Tag("soak")
    void aPortThatIsTakenIsNamed() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                SluiceProcess mover = SluiceProcess.run(
                        folder, "mover", "--pool", "16MiB", "--http-port", Integer.toString(taken.getLocalPort()))) {
            assertThat(mover.awaitEnd()).as(mover::toString).isEqualTo(ExitCodes.FAILED);
            assertThat(mover.err())
                    .contains("--http-port: 127.0.0.1:" + taken.getLocalPort() + " cannot be listened on")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void whatMakesNoSenseIsNamed() {
        ProgramRun small = ProgramRun.of("mover", "--pool", "1KiB");
        assertThat(small.status()).isEqualTo(ExitCodes.USAGE);
        assertThat(small.err()).contains("--pool: one block of qwen2.5-0.5b takes 6");
        ProgramRun named = ProgramRun.of("mover", "--name", "a b", "--http-port", "0");
        assertThat(named.status()).isEqualTo(ExitCodes.USAGE);
        assertThat(named.err()).contains("a mover's name is");
    }

    private static String url(SluiceProcess program, Pattern line) {
        await().atMost(SluiceProcess.BOUND)
                .until(() -> !program.handle().isAlive()
                        || line.matcher(program.out()).find());
        Matcher matcher = line.matcher(program.out());
        assertThat(matcher.find()).as(program::toString).isTrue();
        return matcher.group(1);
    }

    private HttpResponse<String> get(String url) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create(url))
                        .timeout(SluiceProcess.BOUND)
                        .build(),
                BodyHandlers.ofString());
    }

    private static JsonNode json(HttpResponse<String> response) throws IOException {
        return new ObjectMapper().readTree(response.body());
    }
}
