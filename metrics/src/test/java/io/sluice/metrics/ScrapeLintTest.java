package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prometheus' own linter finds nothing to say. */
class ScrapeLintTest {
    @TempDir
    private Path folder;

    @Test
    void aScrapeIsClean() throws Exception {
        assumeTrue(
                Pattern.compile(":")
                        .splitAsStream(System.getenv().getOrDefault("PATH", "/usr/bin"))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, "promtool"))),
                "promtool is not here; Debian's package prometheus brings it");
        String scrape;
        // these take hardware
        FakeMetrics hardware = new FakeMetrics("hardware");
        hardware.ports.add(new FakeMetrics.Port());
        hardware.devices.add(new FakeMetrics.Gpu("GPU-0", 1));
        try (LinkedEngines engines = LinkedEngines.open();
                LinkedTeams teams = LinkedTeams.form();
                TeamMeters ofTeam = TeamMeters.of(teams.team(0));
                LinkedExperts experts = LinkedExperts.of(teams);
                ExpertMeters ofExperts = ExpertMeters.of(experts.buffer(0));
                EngineMeters meters =
                        EngineMeters.builder(engines.source()).peers(8).build();
                EngineMeters ofHardware = new EngineMeters.Builder(hardware).build()) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            meters.bindTo(registry);
            ofHardware.bindTo(registry);
            engines.write(10, 4096);
            teams.barriers(1);
            ofTeam.bindTo(registry);
            ofExperts.bindTo(registry);
            scrape = registry.scrape();
        }
        assertThat(Scrape.of(scrape).names())
                .containsAll(Arrays.stream(EngineMeter.values())
                        .flatMap(meter -> meter.prometheusNames().stream())
                        .toList());
        Path said = folder.resolve("said.txt");
        Process promtool = new ProcessBuilder("promtool", "check", "metrics")
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        give(scrape, promtool);
        int status = Patience.exit(promtool);
        assertThat(Files.readString(said)).isEmpty();
        assertThat(status).isZero();
    }

    private static void give(String text, Process to) throws IOException {
        try (OutputStream input = to.getOutputStream()) {
            input.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }
}
