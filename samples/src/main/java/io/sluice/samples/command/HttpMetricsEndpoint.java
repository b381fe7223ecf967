package io.sluice.samples.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import io.sluice.engine.HostAndPort;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineHealth;
import io.sluice.metrics.EngineHealth.Status;
import io.sluice.metrics.EngineMeters;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.net.HttpURLConnection;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A Prometheus endpoint and two probes, over HTTP. */
final class HttpMetricsEndpoint implements MetricsEndpoint {
    private static final int MOST_PEERS = 64;
    private static final int MILLIS_DIGITS = 3;

    /** Of the JDK's HTTP server, which has neither bound by itself; what the user has set counts. */
    private static final Map<String, String> BOUNDS = Map.of(
            "jdk.httpserver.maxConnections", "64",
            // seconds until a request is whole, and until its answer is taken
            "sun.net.httpserver.maxReqTime", "10",
            "sun.net.httpserver.maxRspTime", "30");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();
    private final AtomicReference<@Nullable EngineHealth> health = new AtomicReference<>();
    private final String host;
    private final Duration linger;
    private final PrintWriter err;
    private final HTTPServer server;
    private @Nullable EngineMeters meters;

    private HttpMetricsEndpoint(String host, int port, Duration linger, PrintWriter err) throws IOException {
        this.host = host;
        this.linger = linger;
        this.err = err;
        BOUNDS.forEach((name, value) -> {
            if (System.getProperty(name) == null) {
                System.setProperty(name, value);
            }
        });
        this.server = HTTPServer.builder()
                .hostname(host)
                .port(port)
                .registry(registry.getPrometheusRegistry())
                // a thread for each request: a few that come slowly would hold all threads of a pool
                .executorService(Executors.newVirtualThreadPerTaskExecutor())
                .defaultHandler(new HealthHandler(health::get))
                .buildAndStart();
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        collections.bindTo(registry);
    }

    /**
     * Listens; until there is an engine, the probes say that there is none.
     *
     * @throws CommandFailure if it cannot listen there
     */
    static HttpMetricsEndpoint open(String host, int port, Duration linger, PrintWriter err) {
        try {
            return new HttpMetricsEndpoint(host, port, linger, err);
        } catch (IOException | UnresolvedAddressException e) {
            throw CommandFailure.usage("--metrics-port: " + HostAndPort.text(host, port) + " cannot be listened on: "
                    + (e.getMessage() == null ? "there is no such host" : e.getMessage()));
        }
    }

    String url() {
        return "http://" + HostAndPort.text(host, server.getPort()) + "/metrics";
    }

    @Override
    public void watch(TransferEngine engine) {
        EngineMeters all = EngineMeters.builder(engine).peers(MOST_PEERS).build();
        all.bindTo(registry);
        meters = all;
        health.set(EngineHealth.of(engine));
    }

    @Override
    public void linger(Termination termination) {
        if (!linger.isZero()) {
            Mono.delay(linger).takeUntilOther(termination.requested()).block();
        }
    }

    @Override
    public void linger(Termination termination, RuntimeException failure) {
        if (!linger.isZero() && !termination.isRequested()) {
            String seconds = BigDecimal.valueOf(linger.toMillis(), MILLIS_DIGITS)
                    .stripTrailingZeros()
                    .toPlainString();
            err.println("sluice: failed, and still to be scraped for " + seconds + " s: " + failure.getMessage());
            err.flush();
            linger(termination);
        }
    }

    @Override
    public void close() {
        EngineMeters bound = meters;
        if (bound != null) {
            bound.close();
        }
        server.close();
        collections.close();
        registry.close();
    }

    /** Answers probes: 200 if all is well, else 503, and why as JSON. */
    record HealthHandler(Supplier<@Nullable EngineHealth> health) implements HttpHandler {
        private static final ObjectMapper JSON = new ObjectMapper();

        @Override
        public void handle(HttpExchange exchange) throws IOException {
            try (exchange) {
                switch (exchange.getRequestURI().getPath()) {
                    // a process that has no engine yet starts, and is not to be killed for that
                    case "/health/live" -> answer(exchange, status(EngineHealth::live, true));
                    case "/health/ready" -> answer(exchange, status(EngineHealth::ready, false));
                    default -> exchange.sendResponseHeaders(HttpURLConnection.HTTP_NOT_FOUND, -1);
                }
            }
        }

        private Status status(Function<EngineHealth, Status> question, boolean withoutEngine) {
            EngineHealth known = health.get();
            return known == null ? new Status(withoutEngine, "starting") : question.apply(known);
        }

        private static void answer(HttpExchange exchange, Status status) throws IOException {
            byte[] body =
                    JSON.writeValueAsBytes(Map.of("status", status.isUp() ? "up" : "down", "detail", status.detail()));
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            boolean headOnly = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(
                    status.isUp() ? HttpURLConnection.HTTP_OK : HttpURLConnection.HTTP_UNAVAILABLE,
                    headOnly ? -1 : body.length);
            if (!headOnly) {
                exchange.getResponseBody().write(body);
            }
        }
    }
}
