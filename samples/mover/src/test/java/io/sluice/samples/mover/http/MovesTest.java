package io.sluice.samples.mover.http;

import static io.sluice.samples.mover.http.HttpApi.json;
import static io.sluice.samples.mover.http.HttpApi.problem;
import static io.sluice.samples.mover.http.KvPool.BLOCK_BYTES;
import static io.sluice.samples.mover.http.KvPool.LAYERS;
import static io.sluice.samples.mover.http.KvPool.PAGES;
import static io.sluice.samples.mover.http.KvPool.PAGE_BYTES;
import static io.sluice.samples.mover.http.KvPool.POOL;
import static io.sluice.samples.mover.http.KvPool.awaitIdle;
import static io.sluice.samples.mover.http.KvPool.from;
import static io.sluice.samples.mover.http.KvPool.registerOnBoth;
import static io.sluice.samples.mover.http.KvPool.to;
import static io.sluice.samples.mover.http.MoverPair.DECODE;
import static io.sluice.samples.mover.http.MoverPair.PREFILL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.samples.mover.move.Moves.MoveLimits;
import io.sluice.testkit.FreePort;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Moves of blocks between two movers, over real HTTP and with real engines. */
class MovesTest {
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
            String id = movers.decodeApi.submit(from(PREFILL).put("count", 64).put("bytesPerSecond", 20 * BLOCK_BYTES));
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
}
