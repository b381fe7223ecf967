package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The meters of a real team of two ranks. */
class TeamMetersTest {
    private static final int BARRIERS = 20;

    @Test
    void everyMeterOfTeamsIsRegisteredAndHasWhatTheTeamCounts() {
        try (LinkedTeams teams = LinkedTeams.form();
                TeamMeters first = TeamMeters.of(teams.team(0));
                TeamMeters second = TeamMeters.of(teams.team(1))) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            registry.config().commonTags("zone", "a");
            first.bindTo(registry);
            second.bindTo(registry);
            assertThat(Scrape.of(registry.scrape()).value("sluice_collective_ranks", "rank=\"0\""))
                    .isEqualTo(2);
            teams.barriers(BARRIERS);
            // kinds appear after the reading that notices them
            registry.scrape();
            Scrape scrape = Scrape.of(registry.scrape());
            Set<String> expected = Arrays.stream(EngineMeter.values())
                    .filter(EngineMeter::isOfTeams)
                    .flatMap(meter -> meter.prometheusNames().stream())
                    .collect(Collectors.toSet());
            assertThat(scrape.names()).isEqualTo(expected);
            for (String rank : List.of("0", "1")) {
                String[] labels = {
                    "engine=\"rank" + rank + "\"",
                    "team=\"linked\"",
                    "rank=\"" + rank + "\"",
                    "kind=\"barrier\"",
                    "algorithm=\"dissemination\"",
                    "zone=\"a\""
                };
                assertThat(scrape.sum("sluice_collective_operations_total", labels))
                        .isEqualTo(BARRIERS);
                assertThat(scrape.value("sluice_collective_duration_seconds_count", labels))
                        .isEqualTo(BARRIERS);
                assertThat(scrape.value("sluice_collective_duration_seconds_sum", labels))
                        .isPositive();
            }
        }
    }

    @Test
    void otherRegistriesGetATimerAndAClosedBindingLeavesNothing() {
        try (LinkedTeams teams = LinkedTeams.form();
                TeamMeters meters = TeamMeters.of(teams.team(0))) {
            teams.barriers(BARRIERS);
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            meters.bindTo(registry);
            FunctionTimer timer = registry.get(EngineMeter.COLLECTIVE_DURATION.meterName())
                    .tags("kind", "barrier")
                    .functionTimer();
            assertThat(timer.count()).isEqualTo(BARRIERS);
            meters.close();
            assertThat(registry.getMeters()).isEmpty();
        }
    }
}
