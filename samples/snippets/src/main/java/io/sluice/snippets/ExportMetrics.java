package io.sluice.snippets;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineMeters;
import io.sluice.reactor.ReactiveTransferEngine;

/**
 * Exports an engine's meters to Prometheus by Micrometer. The engine counts anyway; the registry reads when it is scraped.
 *
 * <p>Run: {@code ./sluice snippet ExportMetrics}
 */
public final class ExportMetrics {
    private ExportMetrics() {}

    public static void main(String[] arguments) {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        EngineOptions named = EngineOptions.builder().name("writer").build();
        try (TransferEngine owner = TransferEngine.open();
                TransferEngine writer = TransferEngine.open(named);
                EngineMeters meters = EngineMeters.of(writer)) {
            meters.bindTo(registry);
            MemoryRegion target = owner.allocate(4096, RegionOptions.readWrite());
            MemoryRegion source = writer.allocate(4096, RegionOptions.local());
            ReactiveTransferEngine.from(writer)
                    .connect(owner.address())
                    .flatMap(connection -> connection
                            .attach(target.descriptor())
                            .flatMap(remote -> connection.write(source, remote, 0)))
                    .block();

            // scrape() is what an HTTP handler answers; here one meter of it.
            registry.scrape()
                    .lines()
                    .filter(line -> line.contains("transfer_bytes_total{") && !line.endsWith(" 0.0"))
                    .forEach(System.out::println);
        }
    }
}
