package io.sluice.samples.command;

import static io.sluice.testkit.Patience.await;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertOptions;
import io.sluice.metrics.ExpertMeters;
import io.sluice.metrics.TeamMeters;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Two ranks that run collectives and exchange tokens of experts until they are closed, behind an endpoint for Prometheus. */
final class WatchedTeam implements AutoCloseable {
    private static final int ELEMENTS = 1 << 14;
    private static final int PAUSE_MILLIS = 20;
    private static final int EXPERTS = 4;
    private static final int HIDDEN = 128;
    private static final int TOKENS = 8;
    private static final int TOP_K = 2;

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    // so that they leave processors to what is watched with them
    private final Executor later = CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Team> teams = new ArrayList<>();
    private final List<ExpertBuffer> buffers = new ArrayList<>();
    private final HTTPServer server;
    private volatile boolean closing;

    WatchedTeam() throws IOException {
        for (int rank = 0; rank < 2; rank++) {
            engines.add(TransferEngine.open(
                    PatientOptions.builder().transports(List.of("tcp")).build()));
        }
        List<CompletableFuture<Team>> forming = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            forming.add(Team.form(
                    engines.get(rank),
                    TeamOptions.rank(rank)
                            .of(2)
                            .rendezvous(engines.getFirst().address())
                            .timeout(Patience.BOUND)
                            .formTimeout(Patience.BOUND)));
        }
        forming.forEach(team -> teams.add(await(team)));
        teams.forEach(team -> TeamMeters.of(team).bindTo(registry));
        List<CompletableFuture<ExpertBuffer>> creating = new ArrayList<>();
        for (Team team : teams) {
            creating.add(ExpertBuffer.create(
                    team,
                    ExpertOptions.experts(EXPERTS)
                            .hidden(HIDDEN)
                            .maxTokensPerRank(TOKENS)
                            .topK(TOP_K)
                            .timeout(Patience.BOUND)));
        }
        creating.forEach(buffer -> buffers.add(await(buffer)));
        buffers.forEach(buffer -> ExpertMeters.of(buffer).bindTo(registry));
        server = HTTPServer.builder()
                .hostname("127.0.0.1")
                .port(0)
                .registry(registry.getPrometheusRegistry())
                .buildAndStart();
        for (int rank = 0; rank < 2; rank++) {
            TransferEngine engine = engines.get(rank);
            repeat(teams.get(rank), engine.allocate(ELEMENTS * 4L, RegionOptions.local()));
            MemoryRegion choices = engine.allocate(TOKENS * TOP_K * 8L, RegionOptions.local());
            for (int i = 0; i < TOKENS * TOP_K; i++) {
                choices.segment().setAtIndex(ValueLayout.JAVA_LONG, i, (i / TOP_K + i % TOP_K) % EXPERTS);
            }
            repeat(
                    buffers.get(rank),
                    engine.allocate(TOKENS * HIDDEN * 2L, RegionOptions.local()),
                    choices,
                    engine.allocate(TOKENS * TOP_K * 4L, RegionOptions.local()));
        }
    }

    private void repeat(ExpertBuffer buffer, MemoryRegion vectors, MemoryRegion choices, MemoryRegion weights) {
        buffer.lowLatencyDispatch(vectors, 0, choices, 0, TOKENS, DispatchOptions.defaults(), (result, failed) -> {
            if (result == null || closing) {
                return;
            }
            buffer.lowLatencyCombine(
                    result,
                    result.combineBuffer(),
                    0,
                    choices,
                    0,
                    weights,
                    0,
                    vectors,
                    0,
                    CombineOptions.defaults(),
                    (sums, error) -> {
                        result.close();
                        if (error == null && !closing) {
                            later.execute(() -> repeat(buffer, vectors, choices, weights));
                        }
                    });
        });
    }

    private void repeat(Team team, MemoryRegion region) {
        CollectiveCallback next = (collective, error) -> {
            if (error == null && !closing) {
                later.execute(() -> repeat(team, region));
            }
        };
        team.allReduce(
                region,
                0,
                region,
                0,
                ELEMENTS,
                ElementType.FLOAT32,
                ReduceOperation.SUM,
                CollectiveOptions.defaults(),
                next);
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getPort() + "/metrics");
    }

    @Override
    public void close() {
        closing = true;
        server.close();
        buffers.stream().map(ExpertBuffer::closeAsync).toList().forEach(Patience::await);
        teams.stream().map(Team::closeAsync).toList().forEach(Patience::await);
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
        registry.close();
    }
}
