package io.sluice.samples.mover.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.directory.Advertisement;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A peer that grants what was not asked for, or too late: its lease is given back, and nothing is kept here. */
class PeerAnswersTest {

    private static final String POOL = "kv";
    private static final String STRANGER = "prefill/stranger";
    private static final int BLOCKS = 8;
    private static final long LEASE = 77;

    private final BlockingQueue<JsonObject> heard = new LinkedBlockingQueue<>();
    private final BlockingQueue<ReactiveConnection> connections = new LinkedBlockingQueue<>();
    private final ReactiveTransferEngine stranger = ReactiveTransferEngine.open(MoverPair.patient()
            .listen("127.0.0.1", 0)
            .transports(List.of("tcp"))
            .build());
    private final MoverPair movers = MoverPair.over("tcp");

    @BeforeEach
    void appear() {
        stranger.accepted().subscribe(connection -> {
            connections.add(connection);
            connection
                    .notifications()
                    .onErrorComplete()
                    .subscribe(bytes -> heard.add(new JsonObject(new String(bytes, StandardCharsets.UTF_8))));
        });
        movers.directory.publish(Advertisement.of(STRANGER, stranger.engine())).block(MoverPair.BOUND);
        movers.decodeApi.register(POOL, 1, 4096, 1, BLOCKS);
        movers.decodeApi.awaitPeer(STRANGER);
    }

    @AfterEach
    void close() {
        movers.close();
        stranger.close().block(MoverPair.BOUND);
    }

    @Test
    void slotsOtherThanAskedForAreRefused() throws InterruptedException {
        String id = fetchTwo();
        ReactiveConnection connection = connections.poll(MoverPair.BOUND.toNanos(), TimeUnit.NANOSECONDS);
        assertThat(connection).isNotNull();
        for (String slots : List.of("[0]", "[0,1,2]", "[0,8]", "[0,-3]", "[0,\"1\"]", "[0,4294967296]", "[0,null]")) {
            answer(connection, hear(), grant(LEASE).put("slots", new JsonArray(slots)));
            requireWrong(id);
            assertThat(hear()).isEqualTo(new JsonObject().put("release", LEASE));
            id = fetchTwo();
        }
        // nothing to give back in these
        for (JsonObject senseless : List.of(new JsonObject(), grant("x").put("slots", new JsonArray("[0,1]")))) {
            answer(connection, hear(), senseless);
            requireWrong(id);
            id = fetchTwo();
        }
        assertThat(hear().getString("what")).isEqualTo("LOCATE");
        movers.decodeApi.cancel(id);
    }

    @Test
    void aLeaseThatIsGrantedTooLateIsGivenBack() throws InterruptedException {
        String id = fetchTwo();
        JsonObject question = hear();
        JsonObject end = movers.decodeApi.awaitEnd(id);
        assertThat(end.getJsonObject("problem").getString("type")).isEqualTo("urn:sluice:problem:peer-silent");
        ReactiveConnection connection = connections.poll(MoverPair.BOUND.toNanos(), TimeUnit.NANOSECONDS);
        assertThat(connection).isNotNull();
        // one that was never asked for is not believed
        answer(connection, new JsonObject().put("question", 4711), grant(78));
        answer(connection, question, grant(LEASE).put("slots", new JsonArray("[0,1]")));
        assertThat(hear()).isEqualTo(new JsonObject().put("release", LEASE));
    }

    private String fetchTwo() {
        return movers.decodeApi.submit(new JsonObject()
                .put("from", STRANGER)
                .put("pool", POOL)
                .put("blocks", new JsonArray().add("1").add("2")));
    }

    private void requireWrong(String id) {
        JsonObject end = movers.decodeApi.awaitEnd(id);
        assertThat(end.getString("state")).isEqualTo("FAILED");
        assertThat(end.getJsonObject("problem").getString("type")).isEqualTo("urn:sluice:problem:peer-wrong");
        assertThat(movers.decodeApi.pool(POOL).getInteger("blocksReserved")).isZero();
    }

    private JsonObject hear() throws InterruptedException {
        JsonObject message = heard.poll(MoverPair.BOUND.toNanos(), TimeUnit.NANOSECONDS);
        assertThat(message).isNotNull();
        return message;
    }

    private static JsonObject grant(Object lease) {
        JsonObject layout = new JsonObject()
                .put("layers", 1)
                .put("pageBytes", 4096)
                .put("pagesPerBlock", 1)
                .put("blocks", BLOCKS);
        return new JsonObject().put("lease", lease).put("generation", 1).put("layout", layout);
    }

    private static void answer(ReactiveConnection connection, JsonObject question, JsonObject body) {
        JsonObject answer =
                new JsonObject().put("answer", question.getLong("question")).put("body", body);
        connection.notify(answer.encode().getBytes(StandardCharsets.UTF_8)).block(MoverPair.BOUND);
    }
}
