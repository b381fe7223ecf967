package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class EngineMetersTest {
    private static final int TRANSFERS = 10;
    private static final int BYTES = 4096;

    @Test
    void figuresOfRealTransfersAreExported() throws Exception {
        // where the target takes part, so that it has served something
        List<String> tcp = List.of("tcp");
        try (TransferEngine source = TransferEngine.open(
                        EngineOptions.builder().transports(tcp).listenNowhere().build());
                TransferEngine target = TransferEngine.open(
                        EngineOptions.builder().transports(tcp).build())) {
            MeterRegistry registry = new SimpleMeterRegistry();
            new EngineMeters(source, Tags.of("engine", "source")).bindTo(registry);
            new EngineMeters(target, Tags.of("engine", "target")).bindTo(registry);
            MemoryRegion local = source.allocate(BYTES, RegionOptions.local());
            MemoryRegion offered = target.allocate(BYTES, RegionOptions.readWrite());
            Connection connection = await(source.connect(target.address()));
            RemoteRegion remote = await(connection.attach(offered.descriptor()));
            for (int i = 0; i < TRANSFERS; i++) {
                CompletableFuture<Void> done = new CompletableFuture<>();
                connection.write(local, 0, remote, 0, BYTES, TransferOptions.defaults(), (transfer, error) -> {
                    if (error == null) {
                        done.complete(null);
                    } else {
                        done.completeExceptionally(error);
                    }
                });
                await(done);
            }

            assertThat(registry.get("sluice.operations")
                            .tags("engine", "source", "operation", "write", "outcome", "success")
                            .functionCounter()
                            .count())
                    .isEqualTo(TRANSFERS);
            assertThat(registry.get("sluice.bytes")
                            .tags("engine", "source", "operation", "write")
                            .functionCounter()
                            .count())
                    .isEqualTo((double) TRANSFERS * BYTES);
            assertThat(registry.get("sluice.served.bytes")
                            .tags("engine", "target", "operation", "write")
                            .functionCounter()
                            .count())
                    .isEqualTo((double) TRANSFERS * BYTES);
            assertThat(registry.get("sluice.connections")
                            .tag("engine", "target")
                            .gauge()
                            .value())
                    .isEqualTo(1);
            assertThat(registry.get("sluice.region.bytes")
                            .tag("engine", "target")
                            .gauge()
                            .value())
                    .isEqualTo(BYTES);
        }
    }

    @Test
    void everyDocumentedMeterIsRegisteredAndNoOther() {
        try (TransferEngine engine = TransferEngine.open(EngineOptions.defaults())) {
            MeterRegistry registry = new SimpleMeterRegistry();
            new EngineMeters(engine, Tags.empty()).bindTo(registry);

            assertThat(registry.getMeters().stream()
                            .map(Meter::getId)
                            .map(Meter.Id::getName)
                            .collect(Collectors.toSet()))
                    .isEqualTo(Arrays.stream(EngineMeter.values())
                            .map(EngineMeter::meterName)
                            .collect(Collectors.toSet()));
        }
    }

    @Test
    void prometheusCanScrapeThem() {
        try (TransferEngine engine = TransferEngine.open(EngineOptions.defaults())) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            new EngineMeters(engine, Tags.empty()).bindTo(registry);

            assertThat(registry.scrape())
                    .contains("sluice_bytes_total{operation=\"write\"}")
                    .contains("sluice_in_flight_operations_limit");
        }
    }

    private static <T> T await(CompletableFuture<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }
}
