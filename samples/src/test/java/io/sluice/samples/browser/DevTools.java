package io.sluice.samples.browser;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sluice.testkit.Patience;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/** A connection to a browser over its DevTools protocol: calls, and events. */
final class DevTools implements AutoCloseable {

    private static final Duration BOUND = Patience.BOUND;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<Integer, CompletableFuture<JsonNode>> calls = new ConcurrentHashMap<>();
    private final AtomicInteger lastId = new AtomicInteger();
    private final HttpClient http = HttpClient.newHttpClient();
    private final BiConsumer<String, JsonNode> events;
    private final WebSocket socket;

    private DevTools(URI address, BiConsumer<String, JsonNode> events) {
        this.events = events;
        this.socket = http.newWebSocketBuilder()
                .connectTimeout(BOUND)
                .buildAsync(address, new Listener())
                .orTimeout(BOUND.toNanos(), TimeUnit.NANOSECONDS)
                .join();
    }

    /**
     * Connects.
     *
     * @param events is told the names and parameters of all events, on one thread at a time
     */
    static DevTools connect(URI address, BiConsumer<String, JsonNode> events) {
        return new DevTools(address, events);
    }

    static ObjectNode parameters() {
        return JSON.createObjectNode();
    }

    /**
     * Calls a method and waits for its result.
     *
     * @param session of a page; empty for the browser itself
     */
    JsonNode call(String session, String method, ObjectNode parameters) {
        int id = lastId.incrementAndGet();
        ObjectNode message = JSON.createObjectNode().put("id", id).put("method", method);
        message.set("params", parameters);
        if (!session.isEmpty()) {
            message.put("sessionId", session);
        }
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        calls.put(id, answer);
        socket.sendText(message.toString(), true)
                .orTimeout(BOUND.toNanos(), TimeUnit.NANOSECONDS)
                .join();
        JsonNode said = answer.orTimeout(BOUND.toNanos(), TimeUnit.NANOSECONDS).join();
        if (said.has("error")) {
            throw new AssertionError(method + ": " + said.path("error"));
        }
        return said.path("result");
    }

    private void receive(String text) throws IOException {
        JsonNode message = JSON.readTree(text);
        CompletableFuture<JsonNode> call = calls.remove(message.path("id").asInt());
        if (call != null) {
            call.complete(message);
        } else if (message.has("method")) {
            events.accept(message.path("method").asText(), message.path("params"));
        }
    }

    @Override
    public void close() {
        socket.abort();
        http.shutdownNow();
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                String whole = text.toString();
                text.setLength(0);
                try {
                    receive(whole);
                } catch (IOException e) {
                    onError(from, e);
                }
            }
            from.request(1);
            return CompletableFuture.completedStage(null);
        }

        @Override
        public void onError(WebSocket from, Throwable error) {
            calls.values().forEach(call -> call.completeExceptionally(error));
        }

        @Override
        public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
            onError(from, new IOException("the browser closed the connection: " + status + " " + reason));
            return CompletableFuture.completedStage(null);
        }
    }
}
