package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Four threads scrape without a pause while transfers run. */
class ScrapeUnderLoadTest {
    private static final int SCRAPERS = 4;
    private static final int TRANSFERS = 15_000;
    private static final int BYTES = 4096;
    /** Longer than a busy machine keeps a thread from its processor by itself. */
    private static final Duration STALL = Patience.scaled(Duration.ofSeconds(5));

    @Test
    void noPollerStallsAndEveryScrapeIsWhole() throws Exception {
        try (LinkedEngines engines = LinkedEngines.open(options -> options.stallThreshold(STALL));
                EngineMeters meters =
                        EngineMeters.builder(engines.source()).peers(4).build()) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            meters.bindTo(registry);
            engines.write(TRANSFERS, BYTES);
            long stalls = stalls(engines.source());
            AtomicBoolean done = new AtomicBoolean();
            AtomicLong scrapes = new AtomicLong();
            ExecutorService threads = Executors.newFixedThreadPool(SCRAPERS);
            try {
                List<Future<?>> scrapers = new ArrayList<>();
                for (int i = 0; i < SCRAPERS; i++) {
                    scrapers.add(threads.submit(() -> scrapeUntil(done, registry, scrapes)));
                }
                engines.write(TRANSFERS, BYTES);
                while (scrapes.get() < SCRAPERS) {
                    engines.write(1, BYTES);
                }
                done.set(true);
                for (Future<?> scraper : scrapers) {
                    scraper.get(LinkedEngines.BOUND.toNanos(), TimeUnit.NANOSECONDS);
                }
            } finally {
                done.set(true);
                threads.shutdown();
            }
            assertThat(stalls(engines.source())).isEqualTo(stalls);
            long written = engines.source().metrics().operations(Operation.WRITE, Outcome.SUCCESS);
            assertThat(written).isGreaterThanOrEqualTo(2L * TRANSFERS);
            Scrape last = Scrape.of(registry.scrape());
            assertThat(last.value("sluice_transfer_duration_seconds_count", "operation=\"write\""))
                    .isEqualTo(written);
            assertThat(last.value("sluice_transfer_bytes_total", "operation=\"write\"", "outcome=\"success\""))
                    .isEqualTo((double) written * BYTES);
            assertThat(last.sum("sluice_peer_operations_total")).isEqualTo(written);
        }
    }

    private static void scrapeUntil(AtomicBoolean done, PrometheusMeterRegistry registry, AtomicLong scrapes) {
        double before = 0;
        while (!done.get()) {
            Scrape scrape = Scrape.of(registry.scrape());
            double count = scrape.value("sluice_transfer_duration_seconds_count", "operation=\"write\"");
            List<Double> buckets = scrape.buckets("sluice_transfer_duration_seconds", "operation=\"write\"");
            assertThat(buckets).isSorted();
            assertThat(buckets.getLast()).isEqualTo(count);
            assertThat(count).isGreaterThanOrEqualTo(before);
            before = count;
            scrapes.incrementAndGet();
        }
    }

    private static long stalls(TransferEngine engine) {
        return engine.metrics().pollers().stream()
                .mapToLong(PollerMetrics::stalls)
                .sum();
    }
}
