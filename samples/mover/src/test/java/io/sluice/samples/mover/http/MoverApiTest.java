package io.sluice.samples.mover.http;

import static io.sluice.samples.mover.http.HttpApi.json;
import static io.sluice.samples.mover.http.HttpApi.problem;
import static io.sluice.samples.mover.http.MoverPair.DECODE;
import static io.sluice.samples.mover.http.MoverPair.PREFILL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.mover.move.MoveLimits;
import io.sluice.testkit.FreePort;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The API over real HTTP, with real engines. */
class MoverApiTest {

    private static final String POOL = "kv";
    private static final int LAYERS = 2;
    private static final int PAGE_BYTES = 4096;
    private static final int PAGES = 4;
    private static final long BLOCK_BYTES = LAYERS * PAGES * (PAGE_BYTES + 4L);

    private static void registerOnBoth(MoverPair movers, int blocks) {
        movers.decodeApi.register(POOL, LAYERS, PAGE_BYTES, PAGES, blocks);
        movers.prefillApi.register(POOL, LAYERS, PAGE_BYTES, PAGES, blocks);
        movers.decodeApi.awaitPeer(PREFILL);
        movers.prefillApi.awaitPeer(DECODE);
    }

    private static JsonObject from(String peer) {
        return new JsonObject().put("from", peer).put("pool", POOL);
    }

    private static JsonObject to(String peer) {
        return new JsonObject().put("to", peer).put("pool", POOL);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void blocksAreFetchedByTheirHash(String transport) {
        try (MoverPair movers = MoverPair.over(transport)) {
            registerOnBoth(movers, 64);
            JsonArray computed = movers.prefillApi.compute(POOL, 40, 7);
            JsonObject listed = movers.decodeApi.json("/api/blocks?pool=kv&peer=prefill%2Fa&limit=512");
            assertThat(listed.getInteger("total")).isEqualTo(40);
            assertThat(listed.getJsonArray("blocks").getList()).containsExactlyInAnyOrderElementsOf(computed.getList());

            HttpResponse<String> taken =
                    movers.decodeApi.post("/api/moves", from(PREFILL).put("blocks", computed));
            JsonObject move = json(taken, 202);
            assertThat(taken.headers().firstValue("Location")).hasValue("/api/moves/" + move.getString("id"));
            JsonObject end = movers.decodeApi.awaitEnd(move.getString("id"));
            assertThat(end.getString("state")).as(end.encode()).isEqualTo("DONE");
            assertThat(end.getInteger("blocks")).isEqualTo(40);
            assertThat(end.getInteger("blocksDone")).isEqualTo(40);
            assertThat(end.getLong("bytesDone")).isEqualTo(40 * BLOCK_BYTES).isEqualTo(end.getLong("bytes"));
            assertThat(end.getInteger("pagesCorrupted")).isZero();
            assertThat(movers.decodeApi.pool(POOL).getInteger("blocksHeld")).isEqualTo(40);
            assertThat(movers.decodeApi
                            .json("/api/blocks?pool=kv&limit=512")
                            .getJsonArray("blocks")
                            .getList())
                    .containsExactlyInAnyOrderElementsOf(computed.getList());

            String again = movers.decodeApi.submit(from(PREFILL).put("blocks", computed));
            JsonObject nothing = movers.decodeApi.awaitEnd(again);
            assertThat(nothing.getString("state")).isEqualTo("DONE");
            assertThat(nothing.getInteger("blocksPresent")).isEqualTo(40);
            assertThat(nothing.getLong("bytesDone")).isZero();
            JsonObject peer =
                    movers.decodeApi.json("/api/peers").getJsonArray("peers").getJsonObject(0);
            assertThat(peer.getString("name")).isEqualTo(PREFILL);
            assertThat(peer.getString("role")).isEqualTo("prefill");
            assertThat(peer.getBoolean("connected")).isTrue();
            assertThat(peer.getString("transport")).isEqualTo(transport);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void blocksAreSentByTheirHash(String transport) {
        try (MoverPair movers = MoverPair.over(transport)) {
            registerOnBoth(movers, 32);
            JsonArray computed = movers.prefillApi.compute(POOL, 32, 1);
            String first = movers.prefillApi.submit(
                    to(DECODE).put("blocks", new JsonArray(computed.getList().subList(0, 10))));
            assertThat(movers.prefillApi.awaitEnd(first).getString("state")).isEqualTo("DONE");
            String all = movers.prefillApi.submit(to(DECODE).put("blocks", computed));
            JsonObject end = movers.prefillApi.awaitEnd(all);
            assertThat(end.getString("state")).as(end.encode()).isEqualTo("DONE");
            assertThat(end.getInteger("blocksPresent")).isEqualTo(10);
            assertThat(end.getInteger("blocksDone")).isEqualTo(22);
            assertThat(end.getLong("bytesDone")).isEqualTo(22 * BLOCK_BYTES);
            JsonObject pool = movers.decodeApi.pool(POOL);
            assertThat(pool.getInteger("blocksHeld")).isEqualTo(32);
            assertThat(pool.getInteger("blocksReserved")).isZero();
            assertThat(pool.getInteger("pagesCorrupted")).isZero();
        }
    }

    @Test
    void aNumberOfBlocksTakesThoseThatAreMissing() {
        try (MoverPair movers = MoverPair.over("shm")) {
            registerOnBoth(movers, 600);
            movers.prefillApi.compute(POOL, 600, 3);
            for (int i = 1; i <= 3; i++) {
                JsonObject end = movers.decodeApi.awaitEnd(
                        movers.decodeApi.submit(from(PREFILL).put("count", 200)));
                assertThat(end.getString("state")).as(end.encode()).isEqualTo("DONE");
                assertThat(end.getInteger("blocksDone")).isEqualTo(200);
                assertThat(movers.decodeApi.pool(POOL).getInteger("blocksHeld")).isEqualTo(200 * i);
            }
        }
    }

    @Test
    void aFullPoolMakesRoomForWhatComes() {
        try (MoverPair movers = MoverPair.over("shm")) {
            movers.decodeApi.register(POOL, LAYERS, PAGE_BYTES, PAGES, 8);
            movers.prefillApi.register(POOL, LAYERS, PAGE_BYTES, PAGES, 64);
            movers.decodeApi.awaitPeer(PREFILL);
            List<?> computed = movers.prefillApi.compute(POOL, 64, 4).getList();
            for (int i = 0; i < 64; i += 8) {
                JsonArray window = new JsonArray(computed.subList(i, i + 8));
                JsonObject end = movers.decodeApi.awaitEnd(
                        movers.decodeApi.submit(from(PREFILL).put("blocks", window)));
                assertThat(end.getString("state")).as(end.encode()).isEqualTo("DONE");
                assertThat(end.getInteger("blocksDone")).isEqualTo(8);
            }
            JsonObject pool = movers.decodeApi.pool(POOL);
            assertThat(pool.getInteger("blocksHeld")).isEqualTo(8);
            assertThat(pool.getInteger("blocksEvicted")).isEqualTo(56);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void progressComesAsServerSentEvents(String transport) {
        try (MoverPair movers = MoverPair.over(transport)) {
            registerOnBoth(movers, 64);
            movers.prefillApi.compute(POOL, 64, 1);
            String id = movers.decodeApi.submit(from(PREFILL).put("count", 64).put("bytesPerSecond", 8 * BLOCK_BYTES));
            List<ServerSentEvent> events;
            try (Stream<ServerSentEvent> stream = movers.decodeApi.events("/api/moves/" + id + "/events")) {
                events = assertTimeoutPreemptively(MoverPair.BOUND, stream::toList);
            }
            assertThat(events).allSatisfy(event -> {
                assertThat(event.name()).isEqualTo("move");
                assertThat(event.data().getString("id")).isEqualTo(id);
            });
            List<Long> bytes = events.stream()
                    .map(event -> event.data().getLong("bytesDone"))
                    .toList();
            assertThat(bytes).isSorted().hasSizeGreaterThan(5);
            assertThat(bytes.stream().distinct().count()).isGreaterThan(5);
            assertThat(bytes.getLast()).isEqualTo(64 * BLOCK_BYTES);
            assertThat(HttpApi.states(events).getLast()).isEqualTo("DONE");
            assertThat(HttpApi.states(events).subList(0, events.size() - 1)).doesNotContain("DONE");
        }
    }

    @Test
    void oneStreamTellsOfAllMovesAndOfTheEngine() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            registerOnBoth(movers, 64);
            movers.prefillApi.compute(POOL, 64, 1);
            String before = movers.decodeApi.submit(from(PREFILL).put("count", 1));
            movers.decodeApi.awaitEnd(before);
            List<ServerSentEvent> seen = new ArrayList<>();
            List<String> later = new ArrayList<>();
            try (Stream<ServerSentEvent> stream = movers.decodeApi.events("/api/events")) {
                later.add(movers.decodeApi.submit(
                        from(PREFILL).put("count", 30).put("bytesPerSecond", 20 * BLOCK_BYTES)));
                boolean ended = assertTimeoutPreemptively(
                        MoverPair.BOUND,
                        () -> stream.peek(seen::add)
                                .anyMatch(event -> event.name().equals("move")
                                        && event.data().getString("id").equals(later.getFirst())
                                        && HttpApi.isEnd(event.data())));
                assertThat(ended).isTrue();
            }
            assertThat(seen.getFirst().name()).isEqualTo("move");
            assertThat(seen.getFirst().data().getString("id")).isEqualTo(before);
            assertThat(seen)
                    .filteredOn(event -> event.name().equals("engine"))
                    .isNotEmpty()
                    .allSatisfy(event -> {
                        assertThat(event.data().getInteger("inFlightLimit")).isEqualTo(256);
                        assertThat(event.data().getInteger("inFlight")).isBetween(0, 256);
                        assertThat(event.data().getLong("inFlightBytesLimit")).isEqualTo(64L << 20);
                    });
            assertThat(seen)
                    .filteredOn(event -> event.name().equals("engine"))
                    .anySatisfy(event ->
                            assertThat(event.data().getLong("bytesPerSecond")).isPositive());
            assertThat(seen.getLast().data().getString("state")).isEqualTo("DONE");
        }
    }

    @ParameterizedTest
    @CsvSource({"shm, from", "tcp, from", "shm, to", "tcp, to"})
    void aCancelledMoveGivesAllBack(String transport, String direction) {
        try (MoverPair movers = MoverPair.over(transport)) {
            registerOnBoth(movers, 64);
            movers.prefillApi.compute(POOL, 64, 1);
            HttpApi api = direction.equals("from") ? movers.decodeApi : movers.prefillApi;
            JsonObject move = direction.equals("from") ? from(PREFILL) : to(DECODE);
            String id = api.submit(move.put("count", 64).put("bytesPerSecond", 2 * BLOCK_BYTES));
            api.awaitMove(id, state -> state.getInteger("blocksDone") > 0);
            JsonObject cancelled = api.cancel(id);
            assertThat(cancelled.getString("state")).isIn("CANCELLING", "CANCELLED");
            JsonObject end = api.awaitEnd(id);
            assertThat(end.getString("state")).as(end.encode()).isEqualTo("CANCELLED");
            assertThat(end.getInteger("blocksDone")).isPositive().isLessThan(64);
            assertThat(end.getValue("problem")).isNull();
            assertThat(inFlight(movers, DECODE)).isZero();
            assertThat(inFlight(movers, PREFILL)).isZero();
            awaitIdle(movers);
            assertThat(api.cancel(id).getString("state")).isEqualTo("CANCELLED");
            // what it has left is in order
            String rest = api.submit((direction.equals("from") ? from(PREFILL) : to(DECODE)).put("count", 64));
            assertThat(api.awaitEnd(rest).getString("state")).isEqualTo("DONE");
            assertThat(movers.decodeApi.pool(POOL).getInteger("blocksHeld")).isEqualTo(64);
            assertThat(movers.decodeApi.pool(POOL).getInteger("pagesCorrupted")).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"from", "to"})
    void aMoveIsCancelledOnlyWhenWhatWasPostedHasDrained(String direction) throws Exception {
        boolean pull = direction.equals("from");
        int port = FreePort.any();
        // The proxy is before the engine that is connected to, and holds the direction that the data takes.
        try (PausingProxy proxy = new PausingProxy(port, pull);
                MoverPair movers = MoverPair.withEngines(
                        "tcp",
                        decode -> pull ? patient(decode) : behind(proxy, port, patient(decode)),
                        prefill -> pull ? behind(proxy, port, patient(prefill)) : patient(prefill))) {
            HttpApi api = pull ? movers.decodeApi : movers.prefillApi;
            String mover = pull ? DECODE : PREFILL;
            JsonObject move = pull ? from(PREFILL) : to(DECODE);
            movers.decodeApi.register(POOL, 4, 65536, 4, 32);
            movers.prefillApi.register(POOL, 4, 65536, 4, 32);
            api.awaitPeer(pull ? PREFILL : DECODE);
            movers.prefillApi.compute(POOL, 32, 1);
            // one move connects and attaches
            String first = api.submit(move.copy().put("count", 1));
            assertThat(api.awaitEnd(first).getString("state")).isEqualTo("DONE");
            proxy.stopAfter(2 << 20);
            String id = api.submit(move.copy().put("count", 32));
            Awaitility.await().atMost(MoverPair.BOUND).until(proxy::hasStopped);
            Awaitility.await().atMost(MoverPair.BOUND).until(() -> inFlight(movers, mover) > 0);
            assertThat(api.cancel(id).getString("state")).isEqualTo("CANCELLING");
            for (int i = 0; i < 5; i++) {
                Thread.sleep(100);
                assertThat(api.move(id).getString("state")).isEqualTo("CANCELLING");
                assertThat(inFlight(movers, mover)).isPositive();
                assertThat(movers.decodeApi.pool(POOL).getInteger("blocksReserved"))
                        .isPositive();
            }
            proxy.resume();
            JsonObject end = api.awaitEnd(id);
            assertThat(end.getString("state")).as(end.encode()).isEqualTo("CANCELLED");
            assertThat(inFlight(movers, mover)).isZero();
            awaitIdle(movers);
        }
    }

    private static EngineOptions.Builder behind(PausingProxy proxy, int port, EngineOptions.Builder engine) {
        return engine.listen("127.0.0.1", port).advertise("127.0.0.1", proxy.port());
    }

    /** The proxy holds heartbeats, too. */
    private static EngineOptions.Builder patient(EngineOptions.Builder engine) {
        return engine.livenessTimeout(MoverPair.BOUND);
    }

    @Test
    void cancelsAtAnyTimeLeaveNothingBehind() {
        try (MoverPair movers = MoverPair.over("tcp")) {
            registerOnBoth(movers, 256);
            movers.prefillApi.compute(POOL, 256, 1);
            for (int i = 0; i < 15; i++) {
                boolean pull = i % 2 == 0;
                HttpApi api = pull ? movers.decodeApi : movers.prefillApi;
                String id = api.submit((pull ? from(PREFILL) : to(DECODE)).put("count", 256));
                api.cancel(id);
                assertThat(api.awaitEnd(id).getString("state")).isIn("CANCELLED", "DONE");
            }
            awaitIdle(movers);
            assertThat(inFlight(movers, DECODE)).isZero();
            assertThat(inFlight(movers, PREFILL)).isZero();
            String rest = movers.decodeApi.submit(from(PREFILL).put("count", 256));
            assertThat(movers.decodeApi.awaitEnd(rest).getString("state")).isEqualTo("DONE");
            assertThat(movers.decodeApi.pool(POOL).getInteger("blocksHeld")).isEqualTo(256);
            assertThat(movers.decodeApi.pool(POOL).getInteger("pagesCorrupted")).isZero();
        }
    }

    @Test
    void aMoveThatWaitsIsCancelledAtOnceAndWhatWaitsIsBounded() {
        try (MoverPair movers = MoverPair.withMovers("shm", mover -> mover.withLimits(new MoveLimits(1, 2, 3, 64)))) {
            registerOnBoth(movers, 64);
            movers.prefillApi.compute(POOL, 64, 1);
            JsonObject slow = from(PREFILL).put("count", 64).put("bytesPerSecond", BLOCK_BYTES);
            String running = movers.decodeApi.submit(slow);
            String second = movers.decodeApi.submit(slow);
            String third = movers.decodeApi.submit(slow);
            assertThat(movers.decodeApi.move(third).getString("state")).isEqualTo("WAITING");
            HttpResponse<String> refused = movers.decodeApi.post("/api/moves", slow);
            problem(refused, 429, "too-many");
            assertThat(refused.headers().firstValue("Retry-After")).isPresent();
            assertThat(movers.decodeApi.cancel(third).getString("state")).isEqualTo("CANCELLED");
            movers.decodeApi.cancel(second);
            movers.decodeApi.cancel(running);
            movers.decodeApi.awaitEnd(running);
            for (int i = 0; i < 4; i++) {
                movers.decodeApi.awaitEnd(movers.decodeApi.submit(from(PREFILL).put("count", 1)));
            }
            assertThat(movers.decodeApi.json("/api/moves").getJsonArray("moves"))
                    .hasSize(3);
            problem(movers.decodeApi.get("/api/moves/" + running), 404, "unknown-move");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void corruptedPagesAreCountedAndNotTakenIn(String transport) {
        try (MoverPair movers = MoverPair.over(transport)) {
            registerOnBoth(movers, 16);
            movers.prefillApi.compute(POOL, 16, 1);
            corruptFirstPage(movers, transport);
            JsonObject end = movers.decodeApi.awaitEnd(
                    movers.decodeApi.submit(from(PREFILL).put("count", 16)));
            assertThat(end.getString("state")).as(end.encode()).isEqualTo("FAILED");
            assertThat(end.getInteger("pagesCorrupted")).isEqualTo(1);
            assertThat(end.getInteger("blocksCorrupted")).isEqualTo(1);
            assertThat(end.getInteger("blocksDone")).isEqualTo(15);
            assertThat(end.getJsonObject("problem").getString("type")).isEqualTo("urn:sluice:problem:corrupted-pages");
            assertThat(movers.decodeApi.pool(POOL).getInteger("pagesCorrupted")).isEqualTo(1);
            assertThat(movers.decodeApi.pool(POOL).getInteger("blocksHeld")).isEqualTo(15);

            // the same on the other way
            JsonObject sent = movers.prefillApi.awaitEnd(
                    movers.prefillApi.submit(to(DECODE).put("count", 16)));
            assertThat(sent.getString("state")).isEqualTo("FAILED");
            assertThat(sent.getInteger("blocksPresent")).isEqualTo(15);
            assertThat(sent.getInteger("pagesCorrupted")).isEqualTo(1);
            assertThat(movers.decodeApi.pool(POOL).getInteger("pagesCorrupted")).isEqualTo(2);
            awaitIdle(movers);
        }
    }

    /** As a peer with access could: slot 0 has a block, as all slots do. */
    private static void corruptFirstPage(MoverPair movers, String transport) {
        ReactiveTransferEngine vandal = ReactiveTransferEngine.open(
                MoverPair.patient().noListener().transports(List.of(transport)).build());
        try {
            MemoryRegion byteOfMine = vandal.allocate(8, RegionOptions.local());
            byteOfMine.segment().fill((byte) 0x55);
            movers.directory
                    .lookupRegion(PREFILL, "kv/pages")
                    .zipWith(movers.directory.find(PREFILL))
                    .flatMap(found -> vandal.connect(found.getT2().address())
                            .flatMap(connection -> connection
                                    .attach(found.getT1())
                                    .flatMap(pages -> connection.write(byteOfMine, pages, 128))))
                    .block(MoverPair.BOUND);
        } finally {
            vandal.close().block(MoverPair.BOUND);
        }
    }

    @Test
    void blocksThatAreNowhereAreNamed() {
        try (MoverPair movers = MoverPair.over("shm")) {
            registerOnBoth(movers, 16);
            JsonArray wanted = movers.prefillApi.compute(POOL, 2, 1).copy().add("00000000000000ff");
            JsonObject end = movers.decodeApi.awaitEnd(
                    movers.decodeApi.submit(from(PREFILL).put("blocks", wanted)));
            assertThat(end.getString("state")).isEqualTo("FAILED");
            assertThat(end.getInteger("blocksDone")).isEqualTo(2);
            assertThat(end.getInteger("blocksUnknown")).isEqualTo(1);
            JsonObject problem = end.getJsonObject("problem");
            assertThat(problem.getString("type")).isEqualTo("urn:sluice:problem:unknown-blocks");
            assertThat(problem.getString("detail")).contains("00000000000000ff");
            JsonArray unknown = new JsonArray().add("ff").add("fe");
            JsonObject sent = movers.prefillApi.awaitEnd(
                    movers.prefillApi.submit(to(DECODE).put("blocks", unknown)));
            assertThat(sent.getJsonObject("problem").getString("type")).isEqualTo("urn:sluice:problem:unknown-blocks");
            awaitIdle(movers);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aPeerThatGoesFailsItsMovesAndIsForgotten(String transport) {
        try (MoverPair movers = MoverPair.over(transport)) {
            registerOnBoth(movers, 64);
            movers.prefillApi.compute(POOL, 64, 1);
            String id = movers.decodeApi.submit(from(PREFILL).put("count", 64).put("bytesPerSecond", 2 * BLOCK_BYTES));
            movers.decodeApi.awaitMove(id, move -> move.getInteger("blocksDone") > 0);
            MoverPair.await(movers.prefill.undeploy(movers.vertx));
            JsonObject end = movers.decodeApi.awaitEnd(id);
            assertThat(end.getString("state")).as(end.encode()).isEqualTo("FAILED");
            assertThat(end.getJsonObject("problem").getString("type"))
                    // a read may meet a region that closes before the connection ends
                    .isIn("urn:sluice:problem:peer-lost", "urn:sluice:problem:pool-gone");
            assertThat(inFlight(movers, DECODE)).isZero();
            Awaitility.await()
                    .atMost(MoverPair.BOUND)
                    .until(() -> movers.decodeApi
                            .json("/api/peers")
                            .getJsonArray("peers")
                            .isEmpty());
            problem(movers.decodeApi.post("/api/moves", from(PREFILL).put("count", 1)), 404, "unknown-peer");
            assertThat(movers.decodeApi.pool(POOL).getInteger("blocksReserved")).isZero();
            assertThat(movers.decodeApi.get("/health/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void poolsOfDifferentShapesDoNotExchangeBlocks() {
        try (MoverPair movers = MoverPair.over("shm")) {
            movers.decodeApi.register(POOL, 2, 4096, 4, 8);
            movers.prefillApi.register(POOL, 2, 8192, 4, 8);
            movers.decodeApi.awaitPeer(PREFILL);
            movers.prefillApi.awaitPeer(DECODE);
            movers.prefillApi.compute(POOL, 4, 1);
            JsonObject fetched = movers.decodeApi.awaitEnd(
                    movers.decodeApi.submit(from(PREFILL).put("count", 4)));
            JsonObject sent = movers.prefillApi.awaitEnd(
                    movers.prefillApi.submit(to(DECODE).put("count", 4)));
            for (JsonObject end : List.of(fetched, sent)) {
                assertThat(end.getString("state")).isEqualTo("FAILED");
                assertThat(end.getJsonObject("problem").getString("type"))
                        .isEqualTo("urn:sluice:problem:different-layout");
            }
            awaitIdle(movers);
        }
    }

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
        try (MoverPair movers = MoverPair.withHttp("shm", http -> http.withMaxEventStreams(1))) {
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
        try (MoverPair movers = MoverPair.withHttp("shm", http -> http.withMaxEventStreams(1))) {
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

    private static long inFlight(MoverPair movers, String mover) {
        String series = "sluice_in_flight_operations{engine=\"" + mover + "\"";
        return movers.decodeApi
                .get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(series))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** Leases end by a message, which takes a moment. */
    private static void awaitIdle(MoverPair movers) {
        for (HttpApi api : List.of(movers.decodeApi, movers.prefillApi)) {
            Awaitility.await()
                    .atMost(MoverPair.BOUND)
                    .until(() -> api.pool(POOL).getInteger("blocksReserved") == 0
                            && api.pool(POOL).getInteger("blocksPinned") == 0);
        }
    }
}
