package io.sluice.vertx;

import static io.sluice.vertx.Bounded.BOUND;
import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Long pipes whose slower end sets the pace: what is under way is bounded, and memory stays flat. */
@ExtendWith(OwnVertx.class)
class PipesTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();
    private static final int WINDOW = 8;
    private static final int CREDITS = 16;
    private static final int ASKED_AHEAD = 8;
    private static final int SINK_HOLDS = 4;

    /** A bound far below the bytes that would pile up without back-pressure. */
    private static final long FLAT_BYTES = 24L << 20;

    private static final int MESSAGE_BYTES = 16 << 10;
    private static final int MESSAGES = 8_000;

    private static long heapInUse() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    /** Gives items as fast as they are taken, on a context. */
    private static final class Generator<T> implements ReadStream<T> {
        private final Vertx vertx;
        private final int count;
        private final IntFunction<T> items;
        final AtomicInteger given = new AtomicInteger();
        private Handler<T> handler;
        private Handler<Void> endHandler;
        private long demand = Long.MAX_VALUE;
        private boolean scheduled;

        Generator(Vertx vertx, int count, IntFunction<T> items) {
            this.vertx = vertx;
            this.count = count;
            this.items = items;
        }

        private void go() {
            if (!scheduled) {
                scheduled = true;
                vertx.runOnContext(nothing -> {
                    scheduled = false;
                    give();
                });
            }
        }

        private void give() {
            while (demand > 0 && handler != null && given.get() < count) {
                demand -= demand == Long.MAX_VALUE ? 0 : 1;
                handler.handle(items.apply(given.getAndIncrement()));
            }
            if (given.get() == count && endHandler != null) {
                Handler<Void> end = endHandler;
                endHandler = null;
                end.handle(null);
            }
        }

        @Override
        public ReadStream<T> handler(Handler<T> itemHandler) {
            handler = itemHandler;
            go();
            return this;
        }

        @Override
        public ReadStream<T> pause() {
            demand = 0;
            return this;
        }

        @Override
        public ReadStream<T> resume() {
            return fetch(Long.MAX_VALUE);
        }

        @Override
        public ReadStream<T> fetch(long amount) {
            demand = demand + amount < 0 ? Long.MAX_VALUE : demand + amount;
            go();
            return this;
        }

        @Override
        public ReadStream<T> endHandler(Handler<Void> ended) {
            endHandler = ended;
            return this;
        }

        @Override
        public ReadStream<T> exceptionHandler(Handler<Throwable> failed) {
            return this;
        }
    }

    /** Takes a few, and a tick later is done with them. */
    private static final class SlowSink<T> implements WriteStream<T> {
        private final Vertx vertx;
        private final AtomicInteger holds = new AtomicInteger();
        final AtomicInteger done = new AtomicInteger();
        final AtomicInteger mostHeld = new AtomicInteger();
        private Handler<Void> drain;
        private volatile int pace;

        SlowSink(Vertx vertx, int pace) {
            this.vertx = vertx;
            this.pace = pace;
        }

        void hurry() {
            pace = Integer.MAX_VALUE;
        }

        @Override
        public Future<Void> write(T item) {
            mostHeld.accumulateAndGet(holds.incrementAndGet(), Math::max);
            if (done.get() < pace) {
                vertx.runOnContext(nothing -> finished());
            } else {
                vertx.setTimer(1, timer -> finished());
            }
            return Future.succeededFuture();
        }

        private void finished() {
            done.incrementAndGet();
            if (holds.decrementAndGet() == SINK_HOLDS / 2 && drain != null) {
                drain.handle(null);
            }
        }

        @Override
        public Future<Void> end() {
            return Future.succeededFuture();
        }

        @Override
        public boolean writeQueueFull() {
            return holds.get() >= SINK_HOLDS;
        }

        @Override
        public WriteStream<T> setWriteQueueMaxSize(int maxSize) {
            return this;
        }

        @Override
        public WriteStream<T> drainHandler(Handler<Void> handler) {
            drain = handler;
            return this;
        }

        @Override
        public WriteStream<T> exceptionHandler(Handler<Throwable> handler) {
            return this;
        }
    }

    /** Runs something on one context, so that a whole pipe lives there. */
    private static <T> T on(Vertx vertx, Callable<T> work) throws Exception {
        CompletableFuture<T> done = new CompletableFuture<>();
        vertx.runOnContext(nothing -> {
            try {
                done.complete(work.call());
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        return await(done);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aFastSourceIsHeldByTheWindow(String transport, Vertx vertx) throws Exception {
        int elements = 20_000;
        try (Target target = new Target(transport)) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport, WINDOW));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(4096, RegionOptions.local()));
            AtomicInteger most = new AtomicInteger();
            AtomicInteger ended = new AtomicInteger();
            Future<Void> piped = on(vertx, () -> {
                WriteStream<TransferElement> writes = to.connection().writes(DEFAULTS);
                Generator<TransferElement> source = new Generator<>(
                        vertx, elements, i -> new TransferElement(local, 0, to.remote(), (i % 1000) * 4096L, 4096));
                return source.pipeTo(new Counted<>(writes, source.given, ended, most));
            });
            await(piped);
            assertThat(ended).hasValue(elements);
            assertThat(most.get()).isBetween(1, WINDOW);
            assertThat(to.connection().connection().window().maxOperationsSeen())
                    .isLessThanOrEqualTo(WINDOW);
        }
    }

    /** Passes everything on, and counts what is between the write and its end. */
    private record Counted<T>(WriteStream<T> to, AtomicInteger given, AtomicInteger ended, AtomicInteger most)
            implements WriteStream<T> {
        @Override
        public Future<Void> write(T item) {
            most.accumulateAndGet(given.get() - ended.get(), Math::max);
            return to.write(item).onComplete(any -> ended.incrementAndGet());
        }

        @Override
        public Future<Void> end() {
            return to.end();
        }

        @Override
        public boolean writeQueueFull() {
            return to.writeQueueFull();
        }

        @Override
        public WriteStream<T> setWriteQueueMaxSize(int maxSize) {
            to.setWriteQueueMaxSize(maxSize);
            return this;
        }

        @Override
        public WriteStream<T> drainHandler(Handler<Void> handler) {
            to.drainHandler(handler);
            return this;
        }

        @Override
        public WriteStream<T> exceptionHandler(Handler<Throwable> handler) {
            to.exceptionHandler(handler);
            return this;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aSlowSinkOfResultsHoldsTheWindow(String transport, Vertx vertx) throws Exception {
        int elements = 3_000;
        try (Target target = new Target(transport)) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport, WINDOW));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            SlowSink<TransferResult> sink = new SlowSink<>(vertx, 0);
            AtomicInteger most = new AtomicInteger();
            Future<Void> piped = on(vertx, () -> {
                Generator<TransferElement> source = new Generator<>(vertx, elements, i -> {
                    // given here are those that were not paused for; the sink is done with the others
                    most.accumulateAndGet(i - sink.done.get(), Math::max);
                    return new TransferElement(local, 0, to.remote(), i % 64 * 64L, 64);
                });
                return to.connection().writeVectored(source, DEFAULTS).pipeTo(sink);
            });
            await().atMost(BOUND).until(() -> sink.done.get() > 100);
            sink.hurry();
            await(piped);
            await().atMost(BOUND).until(() -> sink.done.get() == elements);
            assertThat(sink.mostHeld.get()).isLessThanOrEqualTo(SINK_HOLDS);
            assertThat(most.get())
                    .as("elements under way, and results that wait")
                    .isBetween(1, WINDOW + SINK_HOLDS);
        }
    }

    /** 128 MB of notifications pass; if the pipe kept them while the sink is slow, the heap would tell. */
    @Test
    void memoryStaysFlatWhileASlowSinkHoldsNotifications(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClientOptions options =
                    Target.clientOptions("tcp").configureEngine(engine -> engine.notificationCredits(CREDITS));
            TransferClient client = TransferClient.create(vertx, options);
            CompletableFuture<Connection> accepted = new CompletableFuture<>();
            target.engine.onConnection(accepted::complete);
            TransferConnection here = await(client.connect(target.engine.address()));
            Connection there = await(accepted);
            SlowSink<Buffer> sink = new SlowSink<>(vertx, MESSAGES / 2);
            AtomicLong acknowledged = new AtomicLong();
            AtomicLong mostAhead = new AtomicLong();
            Future<Void> piped = on(vertx, () -> here.notifications().pipeTo(sink));
            byte[] payload = new byte[MESSAGE_BYTES];
            new Random(1).nextBytes(payload);
            Sender sender = new Sender(
                    there,
                    payload,
                    acknowledged,
                    () -> mostAhead.accumulateAndGet(acknowledged.get() - sink.done.get(), Math::max));
            sender.begin();
            await().atMost(BOUND).until(() -> sink.done.get() > MESSAGES / 20);
            long early = heapInUse();
            await().atMost(BOUND).until(() -> sink.done.get() > MESSAGES / 2 + 200);
            long late = heapInUse();
            sink.hurry();
            await().atMost(BOUND).until(() -> sink.done.get() == MESSAGES);
            assertThat(late - early).as("growth of the heap").isLessThan(FLAT_BYTES);
            assertThat(mostAhead.get())
                    .as("messages that the peer holds and the sink does not")
                    .isBetween(1L, (long) CREDITS + ASKED_AHEAD + SINK_HOLDS + 1);
            await(there.close());
            await(piped);
        }
    }

    /** Has one notification more submitted for each that ends. */
    private record Sender(Connection over, byte[] payload, AtomicLong acknowledged, Runnable onEnd) {
        void begin() {
            AtomicInteger left = new AtomicInteger(MESSAGES);
            for (int i = 0; i < 2 * CREDITS; i++) {
                next(left);
            }
        }

        private void next(AtomicInteger left) {
            if (left.getAndDecrement() > 0) {
                over.notify(payload, DEFAULTS, (transfer, error) -> {
                    if (error == null) {
                        acknowledged.incrementAndGet();
                        onEnd.run();
                        next(left);
                    }
                });
            }
        }
    }
}
