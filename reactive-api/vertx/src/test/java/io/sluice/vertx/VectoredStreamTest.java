package io.sluice.vertx;

import static io.sluice.vertx.Bounded.BOUND;
import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.streams.ReadStream;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Vectored transfers, whose results are a stream. */
@ExtendWith(OwnVertx.class)
class VectoredStreamTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();
    private static final int WINDOW = 8;
    private static final int BYTES = 512;

    private record Line(TransferClient client, Target.Attached to, MemoryRegion local) {}

    private static Line line(Vertx vertx, Target target, String transport) throws Exception {
        TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport, WINDOW));
        MemoryRegion local = await(client.allocate(1 << 20, RegionOptions.local()));
        for (int i = 0; i < local.length(); i++) {
            local.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (1 + i / BYTES % 100));
        }
        return new Line(client, target.attach(client), local);
    }

    private static List<TransferElement> elements(Line line, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new TransferElement(
                        line.local(), (long) i * BYTES, line.to().remote(), (long) i * BYTES, BYTES))
                .toList();
    }

    private static long written(Target target, int count) {
        return IntStream.range(0, count)
                .filter(i -> target.at((long) i * BYTES + BYTES - 1) != 0)
                .count();
    }

    /** The results until the end. */
    private static Future<List<TransferResult>> collect(ReadStream<TransferResult> stream) {
        Promise<List<TransferResult>> all = Promise.promise();
        List<TransferResult> results = new ArrayList<>();
        stream.exceptionHandler(all::fail)
                .endHandler(nothing -> all.complete(results))
                .handler(results::add);
        return all.future();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void everyElementGivesAResult(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            Line line = line(vertx, target, transport);
            List<TransferElement> elements = elements(line, 1000);
            List<TransferResult> results = await(collect(line.to().connection().writeVectored(elements, DEFAULTS)));
            assertThat(results)
                    .extracting(TransferResult::element)
                    .containsExactlyInAnyOrderElementsOf(
                            IntStream.range(0, 1000).boxed().toList());
            assertThat(results).allSatisfy(result -> assertThat(result.bytes()).isEqualTo(BYTES));
            assertThat(written(target, 1000)).isEqualTo(1000);
            line.local().segment().fill((byte) 0);
            assertThat(await(collect(line.client().readVectored(elements, DEFAULTS))))
                    .hasSize(1000);
            assertThat(line.local().segment().get(ValueLayout.JAVA_BYTE, 3 * BYTES))
                    .isEqualTo((byte) 4);
            assertThat(await(collect(line.client().writeVectored(List.of(), DEFAULTS))))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void noMoreIsWrittenThanWasFetched(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            Line line = line(vertx, target, transport);
            ConcurrentLinkedQueue<TransferResult> results = new ConcurrentLinkedQueue<>();
            Promise<Void> end = Promise.promise();
            TransferResultStream stream = line.to().connection().writeVectored(elements(line, 100), DEFAULTS);
            stream.pause();
            stream.endHandler(end::complete).handler(results::add);
            await().during(Duration.ofMillis(100)).atMost(BOUND).until(() -> written(target, 100) == 0);
            stream.fetch(3);
            await().atMost(BOUND).until(() -> results.size() == 3);
            stream.fetch(2);
            await().atMost(BOUND).until(() -> results.size() == 5);
            await().during(Duration.ofMillis(100)).atMost(BOUND).until(() -> written(target, 100) == 5);
            stream.resume();
            await(end.future());
            assertThat(results).hasSize(100);
        }
    }

    @Test
    void aPauseHoldsTheWindow(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            Line line = line(vertx, target, "tcp");
            ConcurrentLinkedQueue<TransferResult> results = new ConcurrentLinkedQueue<>();
            TransferResultStream stream = line.to().connection().writeVectored(elements(line, 1000), DEFAULTS);
            stream.handler(result -> {
                results.add(result);
                stream.pause();
            });
            await().atMost(BOUND).until(() -> results.size() == 1);
            await().during(Duration.ofMillis(200))
                    .atMost(BOUND)
                    .until(() -> results.size() == 1 && written(target, 1000) <= WINDOW + 1);
            assertThat(line.to().connection().connection().window().maxOperationsSeen())
                    .isLessThanOrEqualTo(WINDOW);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aStreamIsAskedForNoMoreThanIsTaken(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            Line line = line(vertx, target, transport);
            Elements source = new Elements(elements(line, 1000));
            ConcurrentLinkedQueue<TransferResult> results = new ConcurrentLinkedQueue<>();
            Promise<Void> end = Promise.promise();
            TransferResultStream stream = line.to().connection().writeVectored(source, DEFAULTS);
            stream.pause();
            stream.exceptionHandler(end::fail).endHandler(end::complete).handler(results::add);
            stream.fetch(5);
            await().atMost(BOUND).until(() -> results.size() == 5);
            assertThat(source.given.get()).isEqualTo(5);
            stream.resume();
            await(end.future());
            assertThat(results).hasSize(1000);
            assertThat(source.mostAhead.get()).isBetween(1L, (long) WINDOW);
        }
    }

    @Test
    void aFailedElementFailsTheEndAlone(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            Line line = line(vertx, target, "tcp");
            MemoryRegion gone = target.engine.allocate(4096, RegionOptions.readWrite());
            RemoteRegion remote = await(line.to().connection().attach(gone.descriptor()));
            await(gone.close());
            List<TransferElement> elements = new ArrayList<>(elements(line, 10));
            elements.set(4, new TransferElement(line.local(), 0, remote, 0, BYTES));
            ConcurrentLinkedQueue<TransferResult> results = new ConcurrentLinkedQueue<>();
            Promise<Void> end = Promise.promise();
            line.to()
                    .connection()
                    .writeVectored(elements, DEFAULTS)
                    .exceptionHandler(end::fail)
                    .endHandler(end::complete)
                    .handler(results::add);
            assertThat(Bounded.failure(end.future())).isInstanceOf(ElementsFailedException.class);
            assertThat(results).hasSize(10);
            assertThat(results)
                    .filteredOn(result -> !result.succeeded())
                    .singleElement()
                    .satisfies(result -> {
                        assertThat(result.element()).isEqualTo(4);
                        assertThat(result.error()).isInstanceOf(RemoteAccessException.class);
                    });
        }
    }

    @Test
    void aMistakeIsAnErrorOfTheWhole(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            Line line = line(vertx, target, "tcp");
            TransferElement mistake =
                    new TransferElement(line.local(), 0, line.to().remote(), Target.REGION_BYTES, 1);
            TransferResultStream stream = line.to().connection().writeVectored(List.of(mistake), DEFAULTS);
            assertThat(Bounded.failure(collect(stream))).isInstanceOf(IndexOutOfBoundsException.class);
            await(stream.quiesced());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aCancelEndsWhatIsInFlight(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            Line line = line(vertx, target, transport);
            CompletableFuture<Void> never = new CompletableFuture<>();
            TransferOptions held = DEFAULTS.startAfter(StartEvent.of(never));
            TransferResultStream stream = line.to().connection().writeVectored(elements(line, 100), held);
            Future<List<TransferResult>> results = collect(stream);
            await().atMost(BOUND)
                    .until(() -> line.to().connection().connection().pending() == WINDOW);
            stream.cancel();
            assertThat(Bounded.failure(results)).isInstanceOf(TransferCancelledException.class);
            await(stream.quiesced());
            await().atMost(BOUND)
                    .until(() -> line.to().connection().connection().pending() == 0);
            never.complete(null);
            assertThat(written(target, 100)).isZero();
        }
    }

    @Test
    void theHandlerTakenAwayIsACancel(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            Line line = line(vertx, target, "tcp");
            TransferOptions held = DEFAULTS.startAfter(StartEvent.of(new CompletableFuture<>()));
            TransferResultStream stream = line.to().connection().writeVectored(elements(line, 100), held);
            stream.handler(result -> {});
            await().atMost(BOUND)
                    .until(() -> line.to().connection().connection().pending() == WINDOW);
            stream.handler(null);
            await().atMost(BOUND)
                    .until(() -> line.to().connection().connection().pending() == 0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void elementsCanBePiped(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            Line line = line(vertx, target, transport);
            Promise<Void> piped = Promise.promise();
            vertx.runOnContext(nothing -> new Elements(elements(line, 1000))
                    .pipeTo(line.to().connection().writes(DEFAULTS))
                    .onComplete(piped));
            await(piped.future());
            assertThat(written(target, 1000)).isEqualTo(1000);
            assertThat(line.to().connection().connection().window().maxOperationsSeen())
                    .isLessThanOrEqualTo(WINDOW);
        }
    }

    /** Gives elements as they are fetched, on the thread that fetches. */
    static final class Elements implements ReadStream<TransferElement> {
        private final List<TransferElement> elements;
        final AtomicLong given = new AtomicLong();
        final AtomicLong mostAhead = new AtomicLong();
        private Handler<TransferElement> handler;
        private Handler<Void> endHandler;
        private long demand = Long.MAX_VALUE;
        private boolean giving;
        private boolean ended;

        Elements(List<TransferElement> elements) {
            this.elements = elements;
        }

        @Override
        public ReadStream<TransferElement> exceptionHandler(Handler<Throwable> failureHandler) {
            return this;
        }

        @Override
        public ReadStream<TransferElement> handler(Handler<TransferElement> elementHandler) {
            handler = elementHandler;
            give();
            return this;
        }

        @Override
        public ReadStream<TransferElement> pause() {
            demand = 0;
            return this;
        }

        @Override
        public ReadStream<TransferElement> resume() {
            return fetch(Long.MAX_VALUE);
        }

        @Override
        public ReadStream<TransferElement> fetch(long amount) {
            if (amount != Long.MAX_VALUE) {
                mostAhead.accumulateAndGet(amount, Math::max);
            }
            demand = demand + amount < 0 ? Long.MAX_VALUE : demand + amount;
            give();
            return this;
        }

        @Override
        public ReadStream<TransferElement> endHandler(Handler<Void> endedHandler) {
            endHandler = endedHandler;
            return this;
        }

        private void give() {
            if (giving || handler == null) {
                return;
            }
            giving = true;
            while (demand > 0 && given.get() < elements.size() && handler != null) {
                demand -= demand == Long.MAX_VALUE ? 0 : 1;
                handler.handle(elements.get((int) given.getAndIncrement()));
            }
            giving = false;
            if (given.get() == elements.size() && endHandler != null && !ended) {
                ended = true;
                endHandler.handle(null);
            }
        }
    }
}
