package io.sluice.samples.cluster;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Asks a mover over HTTP. It blocks, so it is for threads that may; any number of them may use it. A thread that is interrupted
 * gets an {@link InterruptedIOException}, and stays interrupted.
 */
public final class MoverHttpClient implements AutoCloseable {
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration ANSWER = Duration.ofSeconds(20);
    private static final ObjectMapper JSON =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT)
            .build();
    private final URI address;

    /**
     * A client of one mover.
     *
     * @param address of its HTTP server, without a path
     */
    public MoverHttpClient(URI address) {
        this.address = address;
    }

    public URI address() {
        return address;
    }

    /**
     * Another mover in the directory.
     *
     * @param epoch tells one run of the engine from others
     * @param transport of the open connection to it; {@code null} without one
     */
    public record Peer(
            String name,
            String engine,
            String epoch,
            @Nullable String transport) {
        /** Tells this run of it from others. */
        public String run() {
            return engine + "/" + epoch;
        }
    }

    public List<Peer> peers() throws IOException {
        return List.of(JSON.treeToValue(get("/api/peers").path("peers"), Peer[].class));
    }

    /**
     * Hashes of the blocks of a peer, the first 512.
     *
     * @param pool the pool's name, on both sides
     */
    public List<String> blocks(String pool, String peer) throws IOException {
        JsonNode answer = get("/api/blocks?limit=512&pool=" + encoded(pool) + "&peer=" + encoded(peer));
        return List.of(JSON.treeToValue(answer.path("blocks"), String[].class));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /**
     * Has blocks moved to this mover.
     *
     * @return the move's id
     */
    public String moveFrom(String peer, String pool, List<String> hashes) throws IOException {
        Map<String, Object> body = Map.of("from", peer, "pool", pool, "blocks", hashes);
        return post("/api/moves", JSON.writeValueAsString(body)).path("id").asText();
    }

    public MoveReport move(String id) throws IOException {
        return JSON.treeToValue(get("/api/moves/" + id), MoveReport.class);
    }

    private JsonNode get(String path) throws IOException {
        return ask(HttpRequest.newBuilder(address.resolve(path)).GET());
    }

    private JsonNode post(String path, String body) throws IOException {
        return ask(HttpRequest.newBuilder(address.resolve(path))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body)));
    }

    private JsonNode ask(HttpRequest.Builder request) throws IOException {
        HttpResponse<String> response = send(request.timeout(ANSWER).build());
        JsonNode body = JSON.readTree(response.body());
        if (response.statusCode() >= 400) {
            throw new MoverProblemException(body);
        }
        return body;
    }

    private HttpResponse<String> send(HttpRequest request) throws IOException {
        try {
            return http.send(request, BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + address);
        }
    }

    @Override
    public void close() {
        http.shutdownNow();
    }

    /** A mover has answered that something cannot be done. */
    public static final class MoverProblemException extends IOException {
        private static final long serialVersionUID = 1L;

        private final String kind;

        MoverProblemException(JsonNode problem) {
            super(problem.path("title").asText() + ": " + problem.path("detail").asText());
            this.kind = kind(problem);
        }

        /** Which kind of problem it is, such as {@code unknown-peer}. */
        public String kind() {
            return kind;
        }

        /** The last part of a problem's type. */
        static String kind(JsonNode problem) {
            String type = problem.path("type").asText();
            return type.substring(type.lastIndexOf(':') + 1);
        }
    }

    /**
     * A mover's answer about a move.
     *
     * @param blocksDone blocks that have arrived and fit their seals
     * @param pagesCorrupted pages that do not fit their seals
     * @param problem what it has ended with; {@code null} without one
     */
    public record MoveReport(
            String state,
            long blocksDone,
            long pagesCorrupted,
            long bytesDone,
            @Nullable JsonNode problem) {
        private static final String DONE = "DONE";
        private static final Set<String> ENDS = Set.of(DONE, "FAILED", "CANCELLED");

        /** Which kind of problem it has ended with; {@code null} without one. */
        public @Nullable String problemKind() {
            return problem == null || problem.isNull() ? null : MoverProblemException.kind(problem);
        }

        public boolean hasEnded() {
            return ENDS.contains(state);
        }

        public boolean isDone() {
            return state.equals(DONE);
        }
    }
}
