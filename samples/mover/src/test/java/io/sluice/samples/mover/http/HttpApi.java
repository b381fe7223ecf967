package io.sluice.samples.mover.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A mover's API, as a client on the network sees it. */
final class HttpApi {

    private static final Set<String> ENDS = Set.of("DONE", "FAILED", "CANCELLED");

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String url;

    HttpApi(String url) {
        this.url = url;
    }

    HttpResponse<String> get(String path) {
        return send(request(path).GET());
    }

    HttpResponse<String> delete(String path) {
        return send(request(path).DELETE());
    }

    HttpResponse<String> post(String path, JsonObject body) {
        return post(path, body.encode(), "application/json");
    }

    HttpResponse<String> post(String path, String body, String type) {
        return send(request(path).header("Content-Type", type).POST(BodyPublishers.ofString(body)));
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return client.send(request.build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + path)).timeout(MoverPair.BOUND);
    }

    JsonObject json(String path) {
        return json(get(path), 200);
    }

    static JsonObject json(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
        return new JsonObject(response.body());
    }

    /** The problem of an answer. */
    static JsonObject problem(HttpResponse<String> response, int status, String kind) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        JsonObject problem = new JsonObject(response.body());
        assertThat(problem.getString("type")).isEqualTo("urn:sluice:problem:" + kind);
        assertThat(problem.getInteger("status")).isEqualTo(status);
        assertThat(problem.getString("title")).isNotBlank();
        assertThat(problem.getString("detail")).isNotBlank();
        assertThat(problem.getString("action")).isNotBlank();
        return problem;
    }

    void register(String name, int layers, int pageBytes, int pagesPerBlock, int blocks) {
        json(
                post(
                        "/api/pools",
                        new JsonObject()
                                .put("name", name)
                                .put("layers", layers)
                                .put("pageBytes", pageBytes)
                                .put("pagesPerBlock", pagesPerBlock)
                                .put("blocks", blocks)),
                201);
    }

    JsonArray compute(String pool, int count, long seed) {
        return json(
                        post(
                                "/api/blocks",
                                new JsonObject()
                                        .put("pool", pool)
                                        .put("count", count)
                                        .put("seed", seed)),
                        200)
                .getJsonArray("blocks");
    }

    JsonObject pool(String name) {
        return json("/api/pools").getJsonArray("pools").stream()
                .map(JsonObject.class::cast)
                .filter(pool -> pool.getString("name").equals(name))
                .findFirst()
                .orElseThrow();
    }

    String submit(JsonObject move) {
        JsonObject taken = json(post("/api/moves", move), 202);
        return taken.getString("id");
    }

    JsonObject move(String id) {
        return json("/api/moves/" + id);
    }

    JsonObject cancel(String id) {
        return json(delete("/api/moves/" + id), 202);
    }

    JsonObject awaitMove(String id, Predicate<JsonObject> wanted) {
        return Awaitility.await()
                .atMost(MoverPair.BOUND)
                .until(() -> move(id), move -> wanted.test(move) || isEnd(move));
    }

    JsonObject awaitEnd(String id) {
        return awaitMove(id, HttpApi::isEnd);
    }

    static boolean isEnd(JsonObject move) {
        return ENDS.contains(move.getString("state"));
    }

    void awaitPeer(String name) {
        Awaitility.await()
                .atMost(MoverPair.BOUND)
                .until(() -> json("/api/peers").getJsonArray("peers").stream()
                        .map(JsonObject.class::cast)
                        .anyMatch(peer -> peer.getString("name").equals(name)));
    }

    /** The events of a stream, until it ends or is closed. */
    Stream<ServerSentEvent> events(String path) {
        try {
            HttpResponse<Stream<String>> response =
                    client.send(request(path).GET().build(), BodyHandlers.ofLines());
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Type")).hasValue("text/event-stream");
            return ServerSentEvent.parse(response.body());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    static List<String> states(List<ServerSentEvent> events) {
        return events.stream().map(event -> event.data().getString("state")).toList();
    }
}
