package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.collectives.cuda.GpuTeam;
import io.sluice.collectives.cuda.GpuTeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.cuda.GpuExpertBuffer;
import io.sluice.experts.cuda.GpuExpertOptions;
import io.sluice.testkit.Patience;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The meters of GPU teams and of expert buffers on GPUs, on the software GPU. */
class GpuMetersTest {
    private static final String GPU = GpuInfo.all().getFirst().id();

    private static Set<String> names(Predicate<GpuMeter> which) {
        return Arrays.stream(GpuMeter.values())
                .filter(which)
                .flatMap(meter -> meter.prometheusNames().stream())
                .collect(Collectors.toSet());
    }

    @Test
    void aTeamHasEveryMeterOfTeamsAndWhatItCounts() {
        try (LinkedTeams teams = LinkedTeams.form("shm", "tcp", "cuda")) {
            List<GpuTeam> gpus = Stream.of(0, 1)
                    .map(rank -> GpuTeam.form(
                            teams.team(rank),
                            GPU,
                            GpuTeamOptions.defaults().withBlocks(4).withTimeout(Patience.BOUND)))
                    .toList()
                    .stream()
                    .map(Patience::await)
                    .toList();
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            try (GpuTeamMeters meters = GpuTeamMeters.of(gpus.getFirst())) {
                meters.bindTo(registry);
                CompletableFuture<Void> reached = new CompletableFuture<>();
                long number = gpus.getFirst().barrier().start();
                registry.scrape();
                String[] barriers = {
                    "engine=\"rank0\"",
                    "team=\"linked\"",
                    "rank=\"0\"",
                    "device=\"" + GPU + "\"",
                    "kind=\"barrier\"",
                    "algorithm=\"messages\""
                };
                // the other rank is not there yet
                assertThat(Scrape.of(registry.scrape()).value("sluice_gpu_collective_in_flight", barriers))
                        .isEqualTo(1);
                gpus.getLast().barrier().start();
                gpus.getFirst()
                        .onReached((wait, value, error) -> reached.complete(null))
                        .arm(number);
                Patience.await(reached);
                Scrape scrape = Scrape.of(registry.scrape());
                assertThat(scrape.names()).isEqualTo(names(GpuMeter::isOfTeams));
                assertThat(scrape.value("sluice_gpu_collective_in_flight", barriers))
                        .isZero();
                assertThat(scrape.sum("sluice_gpu_collective_operations_total", barriers))
                        .isEqualTo(1);
                assertThat(scrape.sum("sluice_gpu_collective_starts_total", "of=\"single\""))
                        .isEqualTo(1);
                assertThat(scrape.sum("sluice_gpu_collective_starts_total", "of=\"refused\""))
                        .isZero();
                assertThat(scrape.value("sluice_gpu_collective_failed")).isZero();
                Patience.await(teams.team(0).revoke());
                Patience.until(
                        "the revocation is seen",
                        () -> Scrape.of(registry.scrape()).value("sluice_gpu_collective_failed") == 1);
            }
            assertThat(registry.scrape()).isEmpty();
            gpus.forEach(gpu -> Patience.await(gpu.closeAsync()));
        }
    }

    @Test
    void anExpertBufferHasEveryMeterOfExpertsFromTheStart() {
        try (LinkedTeams teams = LinkedTeams.form("shm", "tcp", "cuda")) {
            ExpertOptions options =
                    ExpertOptions.experts(2).hidden(128).maxTokensPerRank(2).topK(1);
            List<GpuExpertBuffer> buffers = Stream.of(0, 1)
                    .map(rank -> GpuExpertBuffer.create(teams.team(rank), GPU, GpuExpertOptions.of(options)))
                    .toList()
                    .stream()
                    .map(Patience::await)
                    .toList();
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            SimpleMeterRegistry other = new SimpleMeterRegistry();
            try (GpuExpertMeters meters = GpuExpertMeters.of(buffers.getFirst())) {
                meters.bindTo(registry);
                meters.bindTo(other);
                Scrape scrape = Scrape.of(registry.scrape());
                assertThat(scrape.names()).isEqualTo(names(meter -> !meter.isOfTeams()));
                assertThat(scrape.value("sluice_gpu_expert_calls_total", "kind=\"dispatch\"", "rank=\"0\""))
                        .isZero();
                assertThat(other.getMeters()).hasSize(4 + 4 * 3);
            }
            assertThat(other.getMeters()).isEmpty();
            buffers.forEach(buffer -> Patience.await(buffer.closeAsync()));
        }
    }
}
