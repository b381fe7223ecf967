package io.sluice.samples.mover.http;

import static io.sluice.samples.mover.http.MoverPair.PREFILL;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionState;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.mover.MoverVerticle;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Peers that restart, go without a word, or talk nonsense. */
class MoverPeersTest {

    private static final String POOL = "kv";

    private static void registerOnBoth(MoverPair movers) {
        movers.decodeApi.register(POOL, 1, 4096, 4, 32);
        movers.prefillApi.register(POOL, 1, 4096, 4, 32);
        movers.decodeApi.awaitPeer(PREFILL);
    }

    private static JsonObject fetch(MoverPair movers, int count) {
        JsonObject move =
                new JsonObject().put("from", PREFILL).put("pool", POOL).put("count", count);
        return movers.decodeApi.awaitEnd(movers.decodeApi.submit(move));
    }

    private static JsonArray peers(MoverPair movers) {
        return movers.decodeApi.json("/api/peers").getJsonArray("peers");
    }

    private static int pinned(MoverPair movers) {
        return movers.prefillApi.pool(POOL).getInteger("blocksPinned");
    }

    private static ReactiveTransferEngine stranger() {
        return ReactiveTransferEngine.open(
                MoverPair.patient().noListener().transports(List.of("tcp")).build());
    }

    private static ReactiveConnection connect(ReactiveTransferEngine stranger, MoverPair movers) {
        return movers.directory
                .find(PREFILL)
                .flatMap(entry -> stranger.connect(entry.address()))
                .blockOptional(MoverPair.BOUND)
                .orElseThrow();
    }

    private static byte[] bytes(JsonObject message) {
        return message.encode().getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void aMoverThatHasRestartedIsFoundAgain() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            registerOnBoth(movers);
            movers.prefillApi.compute(POOL, 8, 1);
            assertThat(fetch(movers, 8).getString("state")).isEqualTo("DONE");
            String epoch = peers(movers).getJsonObject(0).getString("epoch");

            MoverPair.await(movers.vertx.undeploy(movers.prefill.moverId()));
            MoverPair.await(movers.vertx.deployVerticle(new MoverVerticle(movers.prefillOptions)));
            // its HTTP server was left alone, and serves the new one
            movers.prefillApi.register(POOL, 1, 4096, 4, 32);
            movers.prefillApi.compute(POOL, 16, 2);
            Awaitility.await()
                    .atMost(MoverPair.BOUND)
                    .until(() -> peers(movers).size() == 1
                            && !peers(movers)
                                    .getJsonObject(0)
                                    .getString("epoch")
                                    .equals(epoch));
            JsonObject end = fetch(movers, 16);
            assertThat(end.getString("state")).as(end.encode()).isEqualTo("DONE");
            assertThat(end.getInteger("blocksDone")).isEqualTo(16);
        }
    }

    @Test
    void twoServersCanServeOneMover() {
        try (MoverPair movers = MoverPair.over("shm")) {
            registerOnBoth(movers);
            movers.prefillApi.compute(POOL, 8, 1);
            MoverHttpVerticle second = new MoverHttpVerticle(MoverHttpOptions.of(MoverPair.DECODE));
            MoverPair.await(movers.vertx.deployVerticle(second));
            HttpApi other = new HttpApi("http://127.0.0.1:" + second.port());
            String id = other.submit(
                    new JsonObject().put("from", PREFILL).put("pool", POOL).put("count", 8));
            assertThat(movers.decodeApi.awaitEnd(id).getString("state")).isEqualTo("DONE");
            assertThat(other.move(id)).isEqualTo(movers.decodeApi.move(id));
            HttpApi.problem(other.get("/metrics"), 404, "not-found");
        }
    }

    @Test
    void whatAPeerHasLeasedIsFreeWhenItGoesWithoutAWord() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            registerOnBoth(movers);
            JsonArray computed = movers.prefillApi.compute(POOL, 8, 1);
            ReactiveTransferEngine stranger = stranger();
            try {
                ReactiveConnection connection = connect(stranger, movers);
                JsonObject body = new JsonObject().put("pool", POOL).put("hashes", computed);
                connection
                        .notify(bytes(new JsonObject()
                                .put("question", 1)
                                .put("what", "LOCATE")
                                .put("body", body)))
                        .block(MoverPair.BOUND);
                Awaitility.await().atMost(MoverPair.BOUND).until(() -> pinned(movers) == 8);
                HttpApi.problem(movers.prefillApi.delete("/api/pools/kv"), 409, "pool-in-use");
            } finally {
                stranger.close().block(MoverPair.BOUND);
            }
            Awaitility.await().atMost(MoverPair.BOUND).until(() -> pinned(movers) == 0);
            assertThat(movers.prefillApi.delete("/api/pools/kv").statusCode()).isEqualTo(204);
        }
    }

    @Test
    void aPeerMayLeaseOnlySoMuch() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            registerOnBoth(movers);
            ReactiveTransferEngine stranger = stranger();
            try {
                ReactiveConnection connection = connect(stranger, movers);
                JsonObject nothing = new JsonObject().put("pool", POOL).put("hashes", new JsonArray());
                List<String> refused = connection
                        .notifications()
                        .map(answer -> new JsonObject(new String(answer, StandardCharsets.UTF_8)))
                        .doOnSubscribe(listening -> {
                            for (int i = 0; i < 100; i++) {
                                connection
                                        .notify(bytes(new JsonObject()
                                                .put("question", i)
                                                .put("what", "OFFER")
                                                .put("body", nothing)))
                                        .subscribe();
                            }
                        })
                        .take(100)
                        .filter(answer -> answer.containsKey("problem"))
                        .map(answer -> answer.getJsonObject("problem").getString("type"))
                        .collectList()
                        .blockOptional(MoverPair.BOUND)
                        .orElseThrow();
                assertThat(refused).hasSize(100 - 64).containsOnly("urn:sluice:problem:too-many");
            } finally {
                stranger.close().block(MoverPair.BOUND);
            }
        }
    }

    @Test
    void aPeerThatTalksNonsenseIsCutOffAndNobodyElse() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            registerOnBoth(movers);
            movers.prefillApi.compute(POOL, 8, 1);
            for (String nonsense : List.of(
                    "nonsense", "{}", "{\"question\":1,\"what\":\"LUNCH\"}", "{\"question\":\"x\"}", "[1]", "")) {
                ReactiveTransferEngine stranger = stranger();
                try {
                    ReactiveConnection connection = connect(stranger, movers);
                    connection
                            .notify(nonsense.getBytes(StandardCharsets.UTF_8))
                            .onErrorComplete()
                            .block(MoverPair.BOUND);
                    Awaitility.await()
                            .atMost(MoverPair.BOUND)
                            .until(() -> connection.connection().state() != ConnectionState.OPEN);
                } finally {
                    stranger.close().block(MoverPair.BOUND);
                }
            }
            assertThat(fetch(movers, 8).getString("state")).isEqualTo("DONE");
        }
    }
}
