package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.metrics.EngineMeter;
import io.sluice.samples.dashboard.Promtool;
import io.sluice.samples.mover.http.TricklingClients;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The metrics of commands, over HTTP. */
class MetricsProgramTest {

    private static final Pattern URL = Pattern.compile("metrics at (http://127\\.0\\.0\\.1:\\d+)/metrics");

    /** Bytes that a measurement allocates apart from its transfers. */
    private static final long OTHER_BYTES = 128 << 10;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "shm")
    void theLastScrapeOfAReplayOverTheOtherTransportIsWhatTheSummarySays(String transport) throws Exception {
        theLastScrapeOfAReplayIsWhatTheSummarySays(transport);
    }

    @ParameterizedTest
    @ValueSource(strings = "tcp")
    void theLastScrapeOfAReplayIsWhatTheSummarySays(String transport) throws Exception {
        Path json = folder.resolve("out.json");
        try (SluiceProcess replay = SluiceProcess.start(
                folder,
                "replay",
                "--transport",
                transport,
                "--requests",
                "3",
                "--pool",
                "512MiB",
                "--json",
                json.toString(),
                "--metrics-port",
                "0",
                "--metrics-linger",
                "5m")) {
            String url = url(replay);
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> !replay.handle().isAlive() || json.toFile().exists());
            JsonNode summary = SluiceProcess.json(json);
            // peers have their meters from the second scrape on
            get(url + "/metrics");
            String scrape = get(url + "/metrics").body();
            assertThat(sum(scrape, "sluice_transfer_bytes_total\\{.*\\}"))
                    .isEqualTo(summary.get("bytes").asDouble())
                    .isPositive();
            assertThat(sum(scrape, "sluice_transfer_duration_seconds_count\\{.*operation=\"write\".*\\}"))
                    .isEqualTo(sum(
                            scrape,
                            "sluice_transfer_operations_total\\{.*operation=\"write\".*outcome=\"success\".*\\}"));
            assertThat(sum(scrape, "sluice_in_flight_operations\\{.*\\}")).isZero();
            assertThat(EngineMeter.values())
                    // a port's own counters take hardware, and there is no team
                    .filteredOn(meter -> meter != EngineMeter.PORT_EVENTS
                            && !meter.name().startsWith("DEVICE_")
                            && !meter.isOfTeams()
                            && !meter.isOfExperts())
                    .flatExtracting(EngineMeter::prometheusNames)
                    .allSatisfy(name -> assertThat(scrape).contains("\n" + name + "{"));
            assertThat(scrape).contains("jvm_memory_used_bytes{", "jvm_threads_live_threads", "jvm_gc_");
            assertThat(get(url + "/health/ready").statusCode()).isEqualTo(200);
            assertThat(replay.handle().isAlive()).as(replay::toString).isTrue();
            replay.signal("TERM");
            assertThat(replay.awaitEnd()).as(replay::toString).isEqualTo(143);
        }
    }

    @Test
    void clientsWhoseRequestsNeverEndKeepNoneFromTheFiguresAndAreBounded() throws Exception {
        try (SluiceProcess serve = SluiceProcess.start(
                folder,
                Map.of("JAVA_TOOL_OPTIONS", "-Dsun.net.httpserver.maxReqTime=86400"),
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--memory",
                "1MiB",
                "--metrics-port",
                "0")) {
            String url = url(serve);
            String unfinished = "GET /metrics HTTP/1.1\r\nX-Slow: ";
            // more than a pool of threads has
            try (TricklingClients slow = new TricklingClients(url, 16, unfinished)) {
                assertThat(get(url + "/metrics").statusCode()).isEqualTo(200);
                // 64 is the most
                slow.connect(64);
                slow.awaitCut(16);
            }
        }
    }

    @Test
    void requestsHaveABoundInTime() {
        HttpMetricsEndpoint.open("127.0.0.1", 0, Duration.ZERO, new PrintWriter(System.err))
                .close();
        assertThat(System.getProperty("sun.net.httpserver.maxReqTime")).isEqualTo("10");
        assertThat(System.getProperty("sun.net.httpserver.maxRspTime")).isEqualTo("30");
    }

    @Test
    void aBenchCanBeScrapedWhileItRuns() throws Exception {
        try (SluiceProcess bench = SluiceProcess.start(
                folder,
                "bench",
                "--loopback",
                "--transport",
                "tcp",
                "--api",
                "engine",
                "--size",
                "4KiB",
                "--warmup",
                "100ms",
                "--duration",
                "500ms",
                "--json",
                "-",
                "--metrics-port",
                "0",
                "--metrics-linger",
                "5m")) {
            String url = url(bench);
            await().atMost(SluiceProcess.BOUND).until(() -> {
                get(url + "/metrics");
                return !bench.handle().isAlive() || bench.out().contains("}\n");
            });
            JsonNode line = new ObjectMapper().readTree(bench.out());
            // The least object is of 16 bytes: what carries the transfers allocates none for each, though it is
            // scraped.
            assertThat(line.get("transfer_threads_bytes_per_transfer").asDouble())
                    .isLessThan(8 + (double) OTHER_BYTES / line.get("transfers").asLong());
            String scrape = get(url + "/metrics").body();
            // the warm-up's transfers count there, too
            assertThat(sum(scrape, "sluice_transfer_bytes_total\\{.*operation=\"write\".*outcome=\"success\".*\\}"))
                    .isGreaterThanOrEqualTo(line.get("bytes").asDouble());
            bench.signal("TERM");
            assertThat(bench.awaitEnd()).as(bench::toString).isEqualTo(143);
        }
    }

    @Test
    @Tag("soak")
    void prometheusOwnToolFindsAScrapeClean() throws Exception {
        Promtool.assumeInstalled();
        try (SluiceProcess serve = SluiceProcess.start(
                folder, "serve", "--listen", "127.0.0.1:0", "--memory", "1MiB", "--metrics-port", "0")) {
            String url = url(serve);
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> get(url + "/health/ready").statusCode() == 200);
            String scrape = get(url + "/metrics").body();
            assertThat(scrape).contains("sluice_transfer_bytes_total{", "jvm_memory_used_bytes{");
            assertThat(Promtool.complaints(scrape, folder)).isEmpty();
        }
    }

    @Test
    void aServingProcessTellsItsHealth() throws Exception {
        try (SluiceProcess serve = SluiceProcess.start(
                folder, "serve", "--listen", "127.0.0.1:0", "--memory", "1MiB", "--metrics-port", "0")) {
            String url = url(serve);
            await().atMost(SluiceProcess.BOUND)
                    .until(() -> get(url + "/health/ready").statusCode() == 200);
            HttpResponse<String> live = get(url + "/health/live");
            assertThat(live.statusCode()).isEqualTo(200);
            assertThat(new ObjectMapper().readTree(live.body()).get("status").asText())
                    .isEqualTo("up");
            assertThat(live.headers().firstValue("Content-Type")).hasValue("application/json");
            assertThat(get(url + "/health/other").statusCode()).isEqualTo(404);
            assertThat(sum(get(url + "/metrics").body(), "sluice_region_bytes\\{.*\\}"))
                    .isEqualTo(1 << 20);
            serve.signal("TERM");
            assertThat(serve.awaitEnd()).as(serve::toString).isEqualTo(143);
        }
    }

    @Test
    void aPortThatIsTakenIsNamed() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                SluiceProcess serve = SluiceProcess.run(
                        folder,
                        "serve",
                        "--listen",
                        "127.0.0.1:0",
                        "--memory",
                        "1MiB",
                        "--metrics-port",
                        Integer.toString(taken.getLocalPort()))) {
            assertThat(serve.awaitEnd()).as(serve::toString).isEqualTo(ExitCodes.USAGE);
            assertThat(serve.err())
                    .contains("--metrics-port: 127.0.0.1:" + taken.getLocalPort() + " cannot be listened on")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void optionsThatMakeNoSenseAreNamed() {
        ProgramRun lingering = ProgramRun.of("demo", "--metrics-linger", "1s");
        assertThat(lingering.status()).isEqualTo(ExitCodes.USAGE);
        assertThat(lingering.err()).contains("take --metrics-port");
        ProgramRun beyond = ProgramRun.of("demo", "--metrics-port", "70000");
        assertThat(beyond.status()).isEqualTo(ExitCodes.USAGE);
        assertThat(beyond.err()).contains("to 65535");
    }

    static String url(SluiceProcess program) {
        await().atMost(SluiceProcess.BOUND)
                .until(() -> !program.handle().isAlive()
                        || URL.matcher(program.err()).find());
        Matcher matcher = URL.matcher(program.err());
        assertThat(matcher.find()).as(program::toString).isTrue();
        return matcher.group(1);
    }

    static HttpResponse<String> get(String url) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                    HttpRequest.newBuilder(URI.create(url))
                            .timeout(SluiceProcess.BOUND)
                            .build(),
                    BodyHandlers.ofString());
        }
    }

    static double sum(String scrape, String series) {
        Pattern pattern = Pattern.compile("(?m)^" + series + " (\\S+)$");
        return pattern.matcher(scrape)
                .results()
                .mapToDouble(found -> Double.parseDouble(found.group(1)))
                .sum();
    }
}
