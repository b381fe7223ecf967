package io.sluice.samples.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.sluice.metrics.EngineHealth;
import io.sluice.metrics.EngineHealth.Status;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers probes: 200 if all is well, else 503, and why as JSON. */
final class HealthHandler implements HttpHandler {

    private static final String LIVE = "/health/live";
    private static final String READY = "/health/ready";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Supplier<@Nullable EngineHealth> health;

    HealthHandler(Supplier<@Nullable EngineHealth> health) {
        this.health = health;
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            switch (exchange.getRequestURI().getPath()) {
                // a process that has no engine yet starts, and is not to be killed for that
                case LIVE -> answer(exchange, status(EngineHealth::live, true));
                case READY -> answer(exchange, status(EngineHealth::ready, false));
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
