package io.sluice.samples.mover.http;

import static io.sluice.samples.mover.http.MoverPair.PREFILL;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.samples.dashboard.Programs;
import io.sluice.testkit.Patience;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many clients at once, while moves run. */
class MoverLoadTest {

    private static final String POOL = "kv";
    private static final int CLIENTS = 64;
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final Duration SOAK = Duration.ofSeconds(20);

    @TempDir
    private Path folder;

    @Test
    void sixtyFourClientsAreServedWithoutAnErrorWhileMovesRun() throws Exception {
        try (MoverPair movers = MoverPair.over("tcp");
                Moving moving = new Moving(movers);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> clients = new ArrayList<>();
            long end = System.nanoTime() + SHORT.toNanos();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(threads.submit(() -> {
                    HttpApi api = new HttpApi(movers.decode.url());
                    int requests = 0;
                    do {
                        api.json("/api/moves");
                        api.json("/api/pools");
                        api.json("/api/peers");
                        requests += 3;
                    } while (System.nanoTime() < end);
                    return requests;
                }));
            }
            for (Future<Integer> client : clients) {
                assertThat(client.get(MoverPair.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                        .isPositive();
            }
            moving.requireMoves();
        }
    }

    @Test
    @Tag("soak")
    void wrkFindsNoErrorWhileMovesRun() throws Exception {
        Path wrk = Programs.find("wrk").orElse(null);
        Assumptions.assumeTrue(wrk != null, "wrk is missing: apt-get install wrk, or ./sluice test, brings it");
        boolean soak = System.getProperty("sluice.test.profile", "standard").equals("soak");
        Duration duration = soak ? SOAK : SHORT;
        Path output = folder.resolve("wrk.txt");
        try (MoverPair movers = MoverPair.over("tcp");
                Moving moving = new Moving(movers)) {
            Process process = new ProcessBuilder(
                            String.valueOf(wrk),
                            "--threads",
                            "2",
                            "--connections",
                            Integer.toString(CLIENTS),
                            "--duration",
                            duration.toSeconds() + "s",
                            "--timeout",
                            MoverPair.BOUND.toSeconds() + "s",
                            "--latency",
                            movers.decode.url() + "/api/moves")
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            try {
                assertThat(process.waitFor(duration.plus(MoverPair.BOUND).toNanos(), TimeUnit.NANOSECONDS))
                        .as("it ends")
                        .isTrue();
            } finally {
                process.destroyForcibly();
            }
            String said = Files.readString(output);
            assertThat(process.exitValue()).as(said).isZero();
            // It says nothing of errors if there was none.
            assertThat(said)
                    .contains(CLIENTS + " connections", "Requests/sec")
                    .doesNotContain("Socket errors", "Non-2xx");
            moving.requireMoves();
        }
    }

    /** Moves one after the other, until it is closed: the decode's pool has room for a few blocks at a time. */
    private static final class Moving implements AutoCloseable {
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicInteger done = new AtomicInteger();
        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final Future<?> running;

        Moving(MoverPair movers) {
            movers.decodeApi.register(POOL, 4, 16384, 8, 16);
            movers.prefillApi.register(POOL, 4, 16384, 8, 64);
            movers.decodeApi.awaitPeer(PREFILL);
            List<?> computed = movers.prefillApi.compute(POOL, 64, 1).getList();
            running = thread.submit(() -> {
                for (int i = 0; !over.get(); i = (i + 16) % computed.size()) {
                    JsonObject move = new JsonObject()
                            .put("from", PREFILL)
                            .put("pool", POOL)
                            .put("blocks", new JsonArray(computed.subList(i, i + 16)));
                    JsonObject end = movers.decodeApi.awaitEnd(movers.decodeApi.submit(move));
                    assertThat(end.getString("state")).as(end.encode()).isEqualTo("DONE");
                    assertThat(end.getInteger("blocksDone")).isEqualTo(16);
                    done.incrementAndGet();
                }
            });
        }

        void requireMoves() throws Exception {
            Patience.until("a move has ended, well or not", () -> done.get() > 0 || running.isDone());
            over.set(true);
            running.get(MoverPair.BOUND.toNanos(), TimeUnit.NANOSECONDS);
            assertThat(done).hasPositiveValue();
        }

        @Override
        public void close() {
            over.set(true);
            thread.shutdown();
        }
    }
}
