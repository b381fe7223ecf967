package io.sluice.samples.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sluice.testkit.FreePort;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A real Prometheus on loopback, which scrapes programs each second and has this project's rules. */
public final class PrometheusServer implements AutoCloseable {

    private static final String NAME = "prometheus";
    private static final String RULES = "/META-INF/sluice/prometheus/sluice-rules.yaml";
    private static final Duration BOUND = Patience.BOUND;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final URI address;
    private final Path log;
    private final HttpClient client = HttpClient.newHttpClient();

    private PrometheusServer(Process process, URI address, Path log) {
        this.process = process;
        this.address = address;
        this.log = log;
    }

    /** Skips the test, and says why, where there is no Prometheus. */
    public static void assumeInstalled() {
        Assumptions.assumeTrue(
                Programs.find(NAME).isPresent(),
                "prometheus is missing: apt-get install prometheus, or ./sluice test, brings it");
    }

    /**
     * Starts it, and waits until it is ready.
     *
     * @param parent in which it makes a folder for its data
     * @param targets what it scrapes
     */
    public static PrometheusServer start(Path parent, URI... targets) throws IOException {
        Path folder = Files.createTempDirectory(parent, NAME);
        Path rules = folder.resolve("rules.yaml");
        try (InputStream in = PrometheusServer.class.getResourceAsStream(RULES)) {
            Files.copy(in, rules);
        }
        Path configuration = folder.resolve("prometheus.yaml");
        // JSON is YAML
        JSON.writeValue(
                configuration.toFile(),
                Map.of(
                        "global",
                        Map.of("scrape_interval", "1s", "scrape_timeout", "1s", "evaluation_interval", "1s"),
                        "rule_files",
                        List.of(rules.toString()),
                        "scrape_configs",
                        List.of(Map.of(
                                "job_name",
                                "sluice",
                                "metrics_path",
                                targets[0].getPath(),
                                "static_configs",
                                List.of(Map.of(
                                        "targets",
                                        Arrays.stream(targets)
                                                .map(URI::getAuthority)
                                                .toList()))))));
        URI address = URI.create("http://127.0.0.1:" + FreePort.any());
        Path log = folder.resolve("log.txt");
        Process process = new ProcessBuilder(
                        NAME,
                        "--config.file=" + configuration,
                        "--storage.tsdb.path=" + folder.resolve("data"),
                        "--storage.tsdb.retention.time=2h",
                        "--web.listen-address=" + address.getAuthority(),
                        "--log.level=warn")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        PrometheusServer server = new PrometheusServer(process, address, log);
        try {
            await().atMost(BOUND)
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> !process.isAlive() || server.isReady());
            assertThat(process.isAlive()).as(() -> "prometheus runs\n" + server).isTrue();
            return server;
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    private boolean isReady() throws InterruptedException {
        try {
            return client.send(
                                    HttpRequest.newBuilder(address.resolve("/-/ready"))
                                            .timeout(BOUND)
                                            .build(),
                                    HttpResponse.BodyHandlers.discarding())
                            .statusCode()
                    == 200;
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the series of an expression now. */
    public JsonNode ask(String expression) {
        return get("/api/v1/query", Map.of("query", expression)).path("result");
    }

    /** Returns the series of an expression over a time, a point each second. */
    public JsonNode ask(String expression, Instant from, Instant to) {
        return get(
                        "/api/v1/query_range",
                        Map.of("query", expression, "start", from.toString(), "end", to.toString(), "step", "1s"))
                .path("result");
    }

    /** The groups of rules, each with its rules' health. */
    public JsonNode ruleGroups() {
        return get("/api/v1/rules", Map.of()).path("groups");
    }

    private JsonNode get(String path, Map<String, String> parameters) {
        StringBuilder query = new StringBuilder();
        parameters.forEach((name, value) -> query.append(query.isEmpty() ? "?" : "&")
                .append(name)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
        try {
            HttpResponse<String> response = client.send(
                    HttpRequest.newBuilder(address.resolve(path + query))
                            .timeout(BOUND)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            JsonNode answer = JSON.readTree(response.body());
            assertThat(answer.path("status").asText())
                    .as("%s %s: %s", path, parameters, response.body())
                    .isEqualTo("success");
            return answer.path("data");
        } catch (IOException e) {
            throw new UncheckedIOException(this.toString(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public String toString() {
        try {
            return "prometheus at " + address + ": " + Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        client.shutdownNow();
        process.destroy();
        try {
            if (!process.waitFor(BOUND.toNanos(), TimeUnit.NANOSECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
