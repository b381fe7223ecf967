package io.sluice.samples.mover.http;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.directory.Directory;
import io.sluice.engine.EngineOptions;
import io.sluice.samples.mover.MoverOptions;
import io.sluice.samples.mover.peer.MoverRole;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** A prefill and a decode mover in one Vert.x, each with an engine and an HTTP server of its own. */
final class MoverPair implements AutoCloseable {

    static final Duration BOUND = Patience.BOUND;
    static final String DECODE = "decode/a";
    static final String PREFILL = "prefill/a";

    private static final AtomicInteger REGISTRIES = new AtomicInteger();

    final Vertx vertx;
    final Directory directory = Directory.inProcess();
    final MoverOptions prefillOptions;
    final MoverDeployment decode;
    final MoverDeployment prefill;
    final HttpApi decodeApi;
    final HttpApi prefillApi;

    private MoverPair(
            String transport,
            UnaryOperator<EngineOptions.Builder> decodeEngine,
            UnaryOperator<EngineOptions.Builder> prefillEngine,
            UnaryOperator<MoverHttpOptions> http,
            UnaryOperator<MoverOptions> both) {
        String registry = "movers-" + REGISTRIES.incrementAndGet();
        vertx = Vertx.builder()
                .with(new VertxOptions()
                        .setMetricsOptions(
                                new MicrometerMetricsOptions().setEnabled(true).setRegistryName(registry)))
                .withMetrics(new MicrometerMetricsFactory(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)))
                .build();
        try {
            prefillOptions = both.apply(MoverOptions.of(MoverRole.PREFILL, "a", directory)
                    .withEngine(prefillEngine.apply(engine(transport)).build())
                    .withMetricsRegistry(registry));
            prefill = deploy(prefillOptions, http);
            decode = deploy(
                    both.apply(MoverOptions.of(MoverRole.DECODE, "a", directory)
                            .withEngine(decodeEngine.apply(engine(transport)).build())
                            .withMetricsRegistry(registry)),
                    http);
        } catch (RuntimeException | Error failed) {
            close();
            throw failed;
        }
        decodeApi = new HttpApi(decode.url());
        prefillApi = new HttpApi(prefill.url());
    }

    static MoverPair over(String transport) {
        return new MoverPair(transport, engine -> engine, engine -> engine, http -> http, mover -> mover);
    }

    static MoverPair withHttp(String transport, UnaryOperator<MoverHttpOptions> http) {
        return new MoverPair(transport, engine -> engine, engine -> engine, http, mover -> mover);
    }

    static MoverPair withMovers(String transport, UnaryOperator<MoverOptions> both) {
        return new MoverPair(transport, engine -> engine, engine -> engine, http -> http, both);
    }

    static MoverPair withEngines(
            String transport,
            UnaryOperator<EngineOptions.Builder> decode,
            UnaryOperator<EngineOptions.Builder> prefill) {
        return new MoverPair(transport, decode, prefill, http -> http, mover -> mover);
    }

    private static EngineOptions.Builder engine(String transport) {
        return MoverOptions.windowed(patient()).transports(List.of(transport));
    }

    /** Of an engine whose connects outlast what a busy machine does to them. */
    static EngineOptions.Builder patient() {
        return PatientOptions.builder();
    }

    private MoverDeployment deploy(MoverOptions mover, UnaryOperator<MoverHttpOptions> http) {
        return await(MoverDeployment.deploy(
                vertx,
                mover,
                http.apply(MoverHttpOptions.of(mover.directoryName()).withMetricsRegistry(mover.metricsRegistry()))));
    }

    static <T> T await(Future<T> future) {
        return future.toCompletionStage()
                .toCompletableFuture()
                .orTimeout(BOUND.toNanos(), TimeUnit.NANOSECONDS)
                .join();
    }

    @Override
    public void close() {
        await(vertx.close());
        directory.close().block(BOUND);
    }
}
