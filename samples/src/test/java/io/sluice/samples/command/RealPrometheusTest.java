package io.sluice.samples.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.sluice.samples.browser.Chromium;
import io.sluice.samples.dashboard.DashboardPanel;
import io.sluice.samples.dashboard.PacedTrace;
import io.sluice.samples.dashboard.PreviewPage;
import io.sluice.samples.dashboard.PrometheusServer;
import io.sluice.samples.dashboard.RangeAnswer;
import io.sluice.testkit.Patience;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real Prometheus scrapes a running program, and is asked what the dashboard asks it. */
class RealPrometheusTest {

    /** How long the program is watched, and which of the dashboard's rows are drawn: all, or names with commas between. */
    private static final int SECONDS = Integer.getInteger("sluice.test.preview-seconds", 10);

    private static final String ROWS = System.getProperty("sluice.test.preview-rows", "");

    private static final Path PREVIEW = Path.of("target", "preview");
    private static final String RATE_INTERVAL = "5s";
    private static final Duration POLL = Duration.ofMillis(250);
    private static final Pattern ENDPOINT = Pattern.compile("metrics at (http://\\S+)");

    @TempDir
    private static Path folder;

    private static final Map<DashboardPanel, List<RangeAnswer>> ANSWERS = new LinkedHashMap<>();
    private static final List<String> EMPTY = new ArrayList<>();
    private static final List<String> UNHEALTHY = new ArrayList<>();
    private static double bytes;

    @BeforeAll
    static void watchAReplay() throws IOException {
        PrometheusServer.assumeInstalled();
        // it does not end while anything may be waited for
        int seconds = SECONDS + (int) SluiceProcess.BOUND.multipliedBy(3).toSeconds();
        Path trace = PacedTrace.write(folder.resolve("trace.jsonl"), seconds);
        try (SluiceProcess replay = SluiceProcess.start(
                        folder,
                        "replay",
                        "--transport",
                        "tcp",
                        "--model",
                        "qwen2.5-0.5b",
                        "--trace",
                        trace.toString(),
                        "--speed",
                        "1",
                        "--pool",
                        "256MiB",
                        "--metrics-port",
                        "0");
                WatchedTeam team = new WatchedTeam();
                PrometheusServer prometheus = PrometheusServer.start(folder, endpoint(replay), team.endpoint())) {
            awaitAnswer(
                    prometheus,
                    replay,
                    // the program answers long before its other process is there, on a busy machine
                    "count_over_time((sum(sluice_transfer_bytes_total{outcome=\"success\", operation=\"write\"}) > 0)[1h:1s]) > "
                            + SECONDS,
                    Duration.ofSeconds(SECONDS).plus(SluiceProcess.BOUND));
            Instant patience = Instant.now().plus(SluiceProcess.BOUND);
            for (DashboardPanel panel : DashboardPanel.all()) {
                List<RangeAnswer> answers = new ArrayList<>();
                for (DashboardPanel.Query query : panel.queries(RATE_INTERVAL)) {
                    if (!hasAnswer(prometheus, panel, query.expression(), patience)) {
                        EMPTY.add(panel + ": " + query.expression());
                    }
                    Instant now = Instant.now();
                    answers.add(new RangeAnswer(
                            query.legend(), prometheus.ask(query.expression(), now.minusSeconds(SECONDS), now)));
                }
                ANSWERS.put(panel, answers);
            }
            bytes = prometheus
                    .ask("sum(sluice_transfer_bytes_total{outcome=\"success\", operation=\"write\"})")
                    .at("/0/value/1")
                    .asDouble();
            for (JsonNode group : prometheus.ruleGroups()) {
                for (JsonNode rule : group.path("rules")) {
                    if (!rule.path("health").asText().equals("ok")) {
                        UNHEALTHY.add(rule.toString());
                    }
                }
            }
            assertThat(replay.handle().isAlive()).as(replay::toString).isTrue();
        }
    }

    @Test
    void everyPanelReturnsData() {
        List<String> exempt = ANSWERS.keySet().stream()
                .filter(DashboardPanel::needsDevice)
                .map(DashboardPanel::toString)
                .toList();
        assertThat(exempt)
                .as("what may be empty")
                .containsExactly(
                        "Verbs: Port counters",
                        "GPUs: Bytes by GPU",
                        "GPUs: Launches by GPU",
                        "GPUs: Mean time of a request on the GPU",
                        "GPUs: Memory of GPUs",
                        "Collectives and experts on GPUs: Collectives of GPUs",
                        "Collectives and experts on GPUs: Bytes of collectives of GPUs",
                        "Collectives and experts on GPUs: Collectives of GPUs in flight",
                        "Collectives and experts on GPUs: Starts of collectives of GPUs, and failures",
                        "Collectives and experts on GPUs: Dispatches and combines of GPUs",
                        "Collectives and experts on GPUs: Tokens of GPUs",
                        "Collectives and experts on GPUs: Dispatches and combines of GPUs in flight",
                        "Collectives and experts on GPUs: Starts of calls on GPUs, and failures");
        assertThat(EMPTY)
                .filteredOn(query -> exempt.stream().noneMatch(query::startsWith))
                .isEmpty();
        assertThat(ANSWERS)
                .isNotEmpty()
                .allSatisfy((panel, answers) -> assertThat(
                                panel.needsDevice() || answers.stream().anyMatch(RangeAnswer::hasNumbers))
                        .as("%s has something to draw", panel)
                        .isTrue());
    }

    @Test
    void theProgramMovesBytesMeanwhile() {
        assertThat(bytes).isPositive();
    }

    @Test
    void theRulesAreEvaluated() {
        assertThat(UNHEALTHY).isEmpty();
    }

    @Test
    @Tag("soak")
    void thePreviewIsDrawn() throws IOException {
        PreviewPage page = new PreviewPage();
        ANSWERS.forEach(page::add);
        Path index = page.write(PREVIEW);
        Chromium.assumeInstalled("the preview is not drawn");
        List<String> rows = ROWS.isEmpty() ? List.of() : List.of(ROWS.split(","));
        Path picture = PREVIEW.resolve("dashboard.png");
        URI address = URI.create(index.toAbsolutePath().toUri() + "#"
                + URLEncoder.encode(ROWS, StandardCharsets.UTF_8).replace("+", "%20"));
        Chromium.shoot(address, PreviewPage.WIDTH, page.height(rows), folder, picture);
        BufferedImage image = ImageIO.read(picture.toFile());
        assertThat(image.getWidth()).isEqualTo(PreviewPage.WIDTH);
        assertThat(IntStream.range(0, image.getWidth() * image.getHeight())
                        .map(pixel -> image.getRGB(pixel % image.getWidth(), pixel / image.getWidth()))
                        .distinct()
                        .count())
                .as("an empty page has few colours")
                .isGreaterThan(50);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "shm")
    void aPeerOverTheOtherTransportThatIsKilledShowsAndRaisesTheAlert(String transport) throws IOException {
        aPeerThatIsKilledShowsAsErrorsAndAConnectionStateAndRaisesTheAlert(transport);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = "tcp")
    void aPeerThatIsKilledShowsAsErrorsAndAConnectionStateAndRaisesTheAlert(String transport) throws IOException {
        try (SluiceProcess replay = SluiceProcess.start(
                        folder,
                        "replay",
                        "--transport",
                        transport,
                        "--requests",
                        "1000000",
                        "--pool",
                        "256MiB",
                        "--metrics-port",
                        "0",
                        "--metrics-linger",
                        "5m");
                PrometheusServer prometheus = PrometheusServer.start(folder, endpoint(replay))) {
            awaitAnswer(
                    prometheus,
                    replay,
                    "sum(rate(sluice_transfer_bytes_total{outcome=\"success\", operation=\"write\"}[5s])) > 0",
                    SluiceProcess.BOUND);
            assertThat(replay.awaitChild().destroyForcibly()).isTrue();
            await().atMost(SluiceProcess.BOUND)
                    .pollInterval(POLL)
                    .untilAsserted(() -> assertThat(List.of(
                                    "sum(sluice_transfer_errors_total{kind=~\"connection_lost|outcome_unknown\"}) > 0",
                                    "sum(sluice_connections{state=\"lost\"}) > 0",
                                    "ALERTS{alertname=\"SluicePeerLost\", alertstate=\"firing\"}"))
                            .allSatisfy(expression -> assertThat(prometheus.ask(expression))
                                    .as(expression)
                                    .isNotEmpty()));
            await().atMost(SluiceProcess.BOUND)
                    .untilAsserted(() -> assertThat(replay.err())
                            .contains("still to be scraped for 300 s: the decode process ended with status 137"));
            replay.signal("TERM");
            assertThat(replay.awaitEnd()).as(replay::toString).isEqualTo(143);
        }
    }

    @Test
    @Tag("soak")
    void anInitiatorThatIsKilledShowsAsAConnectionStateAndRaisesTheAlert() throws IOException {
        Path ready = folder.resolve("ready.json");
        try (SluiceProcess serve = SluiceProcess.start(
                        folder,
                        "serve",
                        "--listen",
                        "127.0.0.1:0",
                        "--memory",
                        "16MiB",
                        "--ready-file",
                        ready.toString(),
                        "--metrics-port",
                        "0");
                PrometheusServer prometheus = PrometheusServer.start(folder, endpoint(serve))) {
            String port = serve.awaitReady(ready).path("port").asText();
            try (SluiceProcess bench = SluiceProcess.start(
                    folder, "bench", "--connect", "127.0.0.1:" + port, "--size", "64KiB", "--duration", "10m")) {
                awaitAnswer(prometheus, bench, "sum(sluice_connections{state=\"open\"}) > 0", SluiceProcess.BOUND);
                // the rule sees the counter before and after
                awaitAnswer(
                        prometheus,
                        bench,
                        "count_over_time(sluice_connections_lost_total[1h]) > 2",
                        SluiceProcess.BOUND);
            }
            awaitAnswer(prometheus, serve, "sum(sluice_connections{state=\"lost\"}) > 0", SluiceProcess.BOUND);
            awaitAnswer(
                    prometheus,
                    serve,
                    "ALERTS{alertname=\"SluicePeerLost\", alertstate=\"firing\"}",
                    SluiceProcess.BOUND);
        }
    }

    /** Waits until an expression gives a series, while the program runs. */
    private static void awaitAnswer(
            PrometheusServer prometheus, SluiceProcess program, String expression, Duration bound) {
        await(expression)
                .atMost(bound)
                .pollInterval(POLL)
                .until(() -> !program.handle().isAlive()
                        || !prometheus.ask(expression).isEmpty());
        assertThat(program.handle().isAlive()).as(program::toString).isTrue();
    }

    /** Whether an expression gives a series before this patience ends: a scrape of a busy machine may come late. */
    private static boolean hasAnswer(
            PrometheusServer prometheus, DashboardPanel panel, String expression, Instant patience) {
        while (prometheus.ask(expression).isEmpty()) {
            if (panel.needsDevice() || Instant.now().isAfter(patience)) {
                return false;
            }
            Patience.pause(POLL);
        }
        return true;
    }

    /** Where a program that has just been started says that it answers. */
    private static URI endpoint(SluiceProcess program) {
        await().atMost(SluiceProcess.BOUND)
                .until(() -> !program.handle().isAlive()
                        || ENDPOINT.matcher(program.err()).find());
        Matcher endpoint = ENDPOINT.matcher(program.err());
        assertThat(endpoint.find()).as(program::toString).isTrue();
        return URI.create(endpoint.group(1));
    }
}
