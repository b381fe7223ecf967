package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The meters of real expert buffers of two ranks. */
class ExpertMetersTest {
    private static final int DISPATCHES = 5;

    @Test
    void everyMeterOfExpertsIsRegisteredAndHasWhatTheBufferCounts() {
        try (LinkedTeams teams = LinkedTeams.form();
                LinkedExperts experts = LinkedExperts.of(teams);
                ExpertMeters first = ExpertMeters.of(experts.buffer(0));
                ExpertMeters second = ExpertMeters.of(experts.buffer(1))) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            registry.config().commonTags("zone", "a");
            first.bindTo(registry);
            second.bindTo(registry);
            experts.dispatches(DISPATCHES);
            Scrape scrape = Scrape.of(registry.scrape());
            Set<String> expected = Arrays.stream(EngineMeter.values())
                    .filter(EngineMeter::isOfExperts)
                    .flatMap(meter -> meter.prometheusNames().stream())
                    .collect(Collectors.toSet());
            assertThat(scrape.names()).isEqualTo(expected);
            // all go to experts of rank 0
            checkRank(scrape, 0, 2 * LinkedExperts.TOKENS);
            checkRank(scrape, 1, 0);
            assertThat(scrape.value("sluice_expert_load_total", "rank=\"0\"", "expert=\"03\""))
                    .isEqualTo(2 * DISPATCHES);
            assertThat(scrape.value("sluice_expert_load_total", "rank=\"1\"", "expert=\"11\""))
                    .isZero();
            assertThat(scrape.value("sluice_expert_busiest_load_total", "rank=\"0\""))
                    .isEqualTo(2 * DISPATCHES);
        }
    }

    private static void checkRank(Scrape scrape, int rank, int received) {
        String[] labels = {
            "engine=\"rank" + rank + "\"",
            "team=\"linked\"",
            "rank=\"" + rank + "\"",
            "kind=\"low-latency-dispatch\"",
            "zone=\"a\""
        };
        assertThat(scrape.sum("sluice_expert_calls_total", labels)).isEqualTo(DISPATCHES);
        assertThat(scrape.value("sluice_expert_duration_seconds_count", labels)).isEqualTo(DISPATCHES);
        assertThat(scrape.value("sluice_expert_duration_seconds_sum", labels)).isPositive();
        assertThat(scrape.value("sluice_expert_tokens_total", with(labels, "direction=\"sent\"")))
                .isEqualTo(DISPATCHES * LinkedExperts.TOKENS);
        assertThat(scrape.value("sluice_expert_tokens_total", with(labels, "direction=\"received\"")))
                .isEqualTo(DISPATCHES * received);
        assertThat(scrape.sum("sluice_expert_time_seconds_total", labels)).isPositive();
    }

    private static String[] with(String[] labels, String another) {
        String[] all = Arrays.copyOf(labels, labels.length + 1);
        all[labels.length] = another;
        return all;
    }

    @Test
    void otherRegistriesGetATimerAndAClosedBindingLeavesNothing() {
        try (LinkedTeams teams = LinkedTeams.form();
                LinkedExperts experts = LinkedExperts.of(teams);
                ExpertMeters meters = ExpertMeters.of(experts.buffer(0), Tags.of("layer", "1"))) {
            MeterRegistry registry = new SimpleMeterRegistry();
            meters.bindTo(registry);
            experts.dispatches(DISPATCHES);
            FunctionTimer timer = registry.get(EngineMeter.EXPERT_DURATION.meterName())
                    .tags("kind", "low-latency-dispatch", "layer", "1")
                    .functionTimer();
            assertThat(timer.count()).isEqualTo(DISPATCHES);
            meters.close();
            assertThat(registry.getMeters()).isEmpty();
            assertThatThrownBy(() -> meters.bindTo(registry)).isInstanceOf(IllegalStateException.class);
        }
    }
}
