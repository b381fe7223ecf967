package io.sluice.samples.mover.http;

import static io.sluice.samples.mover.http.HttpApi.json;
import static io.sluice.samples.mover.http.HttpApi.problem;
import static io.sluice.samples.mover.http.KvPool.POOL;
import static io.sluice.samples.mover.http.KvPool.from;
import static io.sluice.samples.mover.http.KvPool.registerOnBoth;
import static io.sluice.samples.mover.http.MoverPair.DECODE;
import static io.sluice.samples.mover.http.MoverPair.PREFILL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.openapi.contract.OpenAPIContract;
import io.vertx.openapi.validation.ResponseValidator;
import io.vertx.openapi.validation.ValidatableResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The API apart from moves, over real HTTP and with real engines. */
class MoverApiTest {
    private static final MoverHttpOptions.Limits ONE_STREAM =
            new MoverHttpOptions.Limits(1, 256 << 10, 64, MoverPair.BOUND);

    @Test
    void poolsAreRegisteredAndClosed() {
        try (MoverPair movers = MoverPair.withMovers("shm", mover -> mover.withMemoryBytes(64 << 20))) {
            HttpResponse<String> made = movers.decodeApi.post(
                    "/api/pools",
                    new JsonObject()
                            .put("name", "qwen")
                            .put("model", "qwen2.5-0.5b")
                            .put("blocks", 4));
            JsonObject pool = json(made, 201);
            assertThat(made.headers().firstValue("Location")).hasValue("/api/pools/qwen");
            assertThat(pool.getInteger("layers")).isEqualTo(24);
            assertThat(pool.getInteger("pagesPerBlock")).isEqualTo(32);
            problem(
                    movers.decodeApi.post(
                            "/api/pools",
                            new JsonObject()
                                    .put("name", "qwen")
                                    .put("pageBytes", 4096)
                                    .put("blocks", 1)),
                    409,
                    "pool-exists");
            problem(
                    movers.decodeApi.post(
                            "/api/pools",
                            new JsonObject()
                                    .put("name", "large")
                                    .put("pageBytes", 1 << 20)
                                    .put("blocks", 63)),
                    507,
                    "memory-limit");
            assertThat(movers.decodeApi.delete("/api/pools/qwen").statusCode()).isEqualTo(204);
            problem(movers.decodeApi.delete("/api/pools/qwen"), 404, "unknown-pool");
            // its memory is free again
            movers.decodeApi.register("large", 1, 1 << 20, 1, 63);
            movers.prefillApi.register("large", 1, 1 << 20, 1, 4);
            movers.prefillApi.compute("large", 4, 1);
            movers.decodeApi.awaitPeer(PREFILL);
            String id = movers.decodeApi.submit(new JsonObject()
                    .put("from", PREFILL)
                    .put("pool", "large")
                    .put("count", 4)
                    .put("bytesPerSecond", 1 << 20));
            movers.decodeApi.awaitMove(id, move -> move.getLong("bytesDone") > 0);
            movers.decodeApi.cancel(id);
            movers.decodeApi.awaitEnd(id);
            assertThat(movers.decodeApi.delete("/api/pools/large").statusCode()).isEqualTo(204);
        }
    }

    @Test
    void whatIsNotAsTheContractSaysIsRefusedWithAProblem() {
        try (MoverPair movers = MoverPair.over("shm")) {
            registerOnBoth(movers, 16);
            HttpApi api = movers.decodeApi;
            JsonArray none = new JsonArray();
            for (JsonObject move : List.of(
                    new JsonObject(),
                    from(PREFILL).put("count", 0),
                    from(PREFILL).put("count", "many"),
                    from(PREFILL).put("blocks", new JsonArray().add("no hash")),
                    from(PREFILL).put("blocks", new JsonArray().add(7)),
                    from("nobody").put("count", 1),
                    from(PREFILL).put("count", 1).put("pool", "../etc"),
                    from(PREFILL).put("count", 1).put("surprise", true))) {
                problem(api.post("/api/moves", move), 400, "invalid-request");
            }
            for (JsonObject move : List.of(
                    from(PREFILL),
                    from(PREFILL).put("blocks", none),
                    from(PREFILL).put("to", PREFILL).put("count", 1),
                    from(PREFILL).put("count", 1).put("blocks", new JsonArray().add("1")),
                    from(DECODE).put("count", 1),
                    from(PREFILL).put("count", 17))) {
                problem(api.post("/api/moves", move), 422, "impossible-request");
            }
            problem(api.post("/api/moves", from("prefill/b").put("count", 1)), 404, "unknown-peer");
            problem(api.post("/api/moves", from(PREFILL).put("count", 1).put("pool", "other")), 404, "unknown-pool");
            problem(api.post("/api/moves", "{", "application/json"), 400, "invalid-request");
            problem(api.post("/api/moves", "[]", "application/json"), 400, "invalid-request");
            assertThat(api.post("/api/moves", from(PREFILL).put("count", 1).encode(), "text/plain")
                            .statusCode())
                    .isIn(400, 415);
            problem(api.post("/api/moves", "x".repeat(1 << 20), "application/json"), 413, "too-large");
            problem(api.get("/api/moves/000000-1"), 404, "unknown-move");
            problem(api.delete("/api/moves/000000-1"), 404, "unknown-move");
            problem(api.get("/api/moves/000000-1/events"), 404, "unknown-move");
            problem(api.get("/api/moves/what"), 400, "invalid-request");
            problem(api.get("/api/nothing"), 404, "not-found");
            problem(api.get("/api/blocks"), 400, "invalid-request");
            problem(api.get("/api/blocks?pool=kv&limit=1000"), 400, "invalid-request");
            problem(api.get("/api/blocks?pool=kv&peer=prefill/z"), 404, "unknown-peer");
            problem(api.delete("/api/moves"), 405, "method-not-allowed");
            problem(
                    api.post("/api/blocks", new JsonObject().put("pool", POOL).put("count", 1)),
                    409,
                    "computes-nothing");
            problem(
                    api.post("/api/pools", new JsonObject().put("name", "p").put("blocks", 1)),
                    422,
                    "impossible-request");
            problem(
                    api.post(
                            "/api/pools",
                            new JsonObject()
                                    .put("name", "p")
                                    .put("model", "gpt-0")
                                    .put("blocks", 1)),
                    422,
                    "impossible-request");
        }
    }

    @Test
    void aNameThatIsNotThisMachinesIsNotServed() throws Exception {
        try (MoverPair movers = MoverPair.over("shm")) {
            assertThat(statusFor(movers, "evil.example")).contains(" 421 ");
            assertThat(statusFor(movers, "localhost")).contains(" 200 ");
            assertThat(statusFor(movers, "127.0.0.1:" + movers.decode.port())).contains(" 200 ");
        }
    }

    /** The client of the JDK sends no other name than it connects to. */
    private static String statusFor(MoverPair movers, String host) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), movers.decode.port())) {
            socket.setSoTimeout((int) MoverPair.BOUND.toMillis());
            socket.getOutputStream()
                    .write(("GET /api/pools HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .findFirst()
                    .orElse("");
        }
    }

    @Test
    void answersAreAsTheContractSays() {
        try (MoverPair movers = MoverPair.over("shm")) {
            HttpApi api = movers.decodeApi;
            OpenAPIContract contract =
                    MoverPair.await(Contract.read(movers.vertx)).contract();
            ResponseValidator validator = ResponseValidator.create(movers.vertx, contract);
            JsonObject pool =
                    new JsonObject().put("name", POOL).put("pageBytes", 4096).put("blocks", 8);
            JsonObject count = new JsonObject().put("pool", POOL).put("count", 8);
            requireValid(validator, "registerPool", api.post("/api/pools", pool));
            requireValid(validator, "registerPool", movers.prefillApi.post("/api/pools", pool));
            requireValid(validator, "compute", movers.prefillApi.post("/api/blocks", count));
            api.awaitPeer(PREFILL);
            requireValid(validator, "peers", api.get("/api/peers"));
            HttpResponse<String> taken = api.post("/api/moves", count.copy().put("from", PREFILL));
            requireValid(validator, "submit", taken);
            String id = new JsonObject(taken.body()).getString("id");
            requireValid(validator, "move", api.get("/api/moves/" + id));
            api.awaitEnd(id);
            requireValid(validator, "move", api.get("/api/moves/" + id));
            requireValid(validator, "cancel", api.delete("/api/moves/" + id));
            requireValid(validator, "moves", api.get("/api/moves"));
            requireValid(validator, "pools", api.get("/api/pools"));
            requireValid(validator, "peers", api.get("/api/peers"));
            requireValid(validator, "blocks", api.get("/api/blocks?pool=kv"));
            requireValid(validator, "blocks", api.get("/api/blocks?pool=kv&peer=prefill/a"));
            requireValid(validator, "describe", api.get("/api/mover"));
            requireValid(validator, "live", api.get("/health/live"));
            requireValid(validator, "ready", api.get("/health/ready"));
        }
    }

    private static void requireValid(ResponseValidator validator, String operation, HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 202);
        MoverPair.await(validator.validate(
                ValidatableResponse.create(
                        answer.statusCode(),
                        Map.of(
                                "Location",
                                answer.headers().firstValue("Location").orElse("none")),
                        Buffer.buffer(answer.body()),
                        "application/json"),
                operation));
    }

    @Test
    void clientsThatListenAreBounded() {
        try (MoverPair movers = MoverPair.withHttp("shm", http -> http.withLimits(ONE_STREAM))) {
            try (Stream<ServerSentEvent> one = movers.decodeApi.events("/api/events")) {
                assertThat(assertTimeoutPreemptively(MoverPair.BOUND, one::findFirst))
                        .isPresent();
                HttpResponse<String> refused = movers.decodeApi.get("/api/events");
                problem(refused, 503, "too-many-streams");
                assertThat(refused.headers().firstValue("Retry-After")).isPresent();
            }
        }
    }

    @Test
    void aClientThatGoesMakesRoomForAnother() {
        try (MoverPair movers = MoverPair.withHttp("shm", http -> http.withLimits(ONE_STREAM))) {
            for (int i = 0; i < 5; i++) {
                Awaitility.await()
                        .atMost(MoverPair.BOUND)
                        .ignoreExceptionsInstanceOf(AssertionError.class)
                        .until(() -> {
                            HttpApi other = new HttpApi(movers.decode.url());
                            try (Stream<ServerSentEvent> stream = other.events("/api/events")) {
                                return stream.findFirst().isPresent();
                            }
                        });
            }
        }
    }

    @Test
    void probesAndFiguresAreServed() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            registerOnBoth(movers, 8);
            movers.prefillApi.compute(POOL, 8, 1);
            movers.decodeApi.awaitEnd(movers.decodeApi.submit(from(PREFILL).put("count", 8)));
            assertThat(movers.decodeApi.json("/health/live").getString("status"))
                    .isEqualTo("up");
            assertThat(movers.decodeApi.json("/health/ready").getString("status"))
                    .isEqualTo("up");
            String scrape = movers.decodeApi.get("/metrics").body();
            assertThat(scrape)
                    .contains("sluice_transfer_bytes_total{engine=\"decode/a\"")
                    .contains("engine=\"prefill/a\"")
                    .contains("vertx_http_server");
            HttpResponse<String> contract = movers.decodeApi.get("/openapi.yaml");
            assertThat(contract.statusCode()).isEqualTo(200);
            assertThat(contract.body()).startsWith("openapi: 3.1.0");
            JsonObject self = movers.decodeApi.json("/api/mover");
            assertThat(self.getString("name")).isEqualTo(DECODE);
            assertThat(movers.decodeApi.get("/api/mover").headers().firstValue("X-Content-Type-Options"))
                    .hasValue("nosniff");
        }
    }

    @Test
    void aMoverThatIsGoneIsNotAliveAndSaysSo() {
        try (MoverPair movers = MoverPair.over("shm")) {
            MoverPair.await(movers.vertx.undeploy(movers.decode.moverId()));
            assertThat(movers.decodeApi.get("/health/live").statusCode()).isEqualTo(503);
            problem(movers.decodeApi.get("/api/moves"), 503, "mover-silent");
            problem(movers.decodeApi.get("/api/events"), 503, "mover-silent");
        }
    }
}
