package io.sluice.vertx;

import static io.sluice.vertx.Bounded.BOUND;
import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.TransferOptions;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer's notifications as a stream. */
@ExtendWith(OwnVertx.class)
class NotificationStreamTest {
    private static final int CREDITS = 16;
    private static final int ASKED_AHEAD = 8;

    /** The client's end of a connection, and the peer's. */
    private record Ends(TransferConnection here, Connection there) {}

    private static Ends connect(TransferClient client, Target target) throws Exception {
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        target.engine.onConnection(accepted::complete);
        TransferConnection here = await(client.connect(target.engine.address()));
        return new Ends(here, await(accepted));
    }

    private static TransferClient client(Vertx vertx, String transport) {
        TransferClientOptions options = Target.clientOptions(transport);
        return TransferClient.create(vertx, options.configureEngine(engine -> engine.notificationCredits(CREDITS)));
    }

    private static AtomicInteger send(Connection from, int count) {
        AtomicInteger held = new AtomicInteger();
        for (int i = 0; i < count; i++) {
            from.notify(
                    Integer.toString(i).getBytes(StandardCharsets.UTF_8),
                    TransferOptions.defaults(),
                    (transfer, error) -> {
                        if (error == null) {
                            held.incrementAndGet();
                        }
                    });
        }
        return held;
    }

    private static List<String> numbers(int count) {
        return IntStream.range(0, count).mapToObj(Integer::toString).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void theyComeInOrderAndEndWithTheConnection(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            Ends ends = connect(client(vertx, transport), target);
            ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();
            Promise<Void> ended = Promise.promise();
            ends.here()
                    .notifications()
                    .exceptionHandler(ended::fail)
                    .endHandler(ended::complete)
                    .handler(message -> received.add(message.toString()));
            send(ends.there(), 500);
            await().atMost(BOUND).until(() -> received.size() == 500);
            assertThat(received).containsExactlyElementsOf(numbers(500));
            await(ends.there().close());
            await(ended.future());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void nothingComesThatWasNotFetched(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            Ends ends = connect(client(vertx, transport), target);
            ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();
            ReadStream<Buffer> stream = ends.here().notifications();
            stream.pause();
            stream.handler(message -> received.add(message.toString()));
            AtomicInteger held = send(ends.there(), 100);
            // The sender runs out of credits, as nothing is taken.
            await().atMost(BOUND).until(() -> held.get() == CREDITS);
            stream.fetch(3);
            await().atMost(BOUND).until(() -> received.size() == 3);
            await().during(Duration.ofMillis(200))
                    .atMost(BOUND)
                    .until(() -> received.size() == 3 && held.get() <= CREDITS + 3);
            stream.fetch(1).fetch(1);
            await().atMost(BOUND).until(() -> received.size() == 5);
            stream.resume();
            await().atMost(BOUND).until(() -> received.size() == 100);
            assertThat(received).containsExactlyElementsOf(numbers(100));
        }
    }

    @Test
    void aPausedStreamBuffersAFew(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            Ends ends = connect(client(vertx, "tcp"), target);
            ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();
            ReadStream<Buffer> stream = ends.here().notifications();
            stream.handler(message -> {
                received.add(message.toString());
                stream.pause();
            });
            AtomicInteger held = send(ends.there(), 100);
            await().atMost(BOUND).until(() -> held.get() >= CREDITS);
            await().during(Duration.ofMillis(200))
                    .atMost(BOUND)
                    .until(() -> received.size() == 1 && held.get() <= CREDITS + ASKED_AHEAD + 1);
            stream.handler(message -> received.add(message.toString()));
            stream.resume();
            await().atMost(BOUND).until(() -> received.size() == 100);
            assertThat(received).containsExactlyElementsOf(numbers(100));
        }
    }

    @Test
    void aSlowSinkHoldsThePipe(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            Ends ends = connect(client(vertx, "tcp"), target);
            SlowSink sink = new SlowSink();
            Future<Void> piped = ends.here().notifications().pipeTo(sink);
            AtomicInteger held = send(ends.there(), 100);
            await().atMost(BOUND).until(() -> sink.written.size() == 2);
            await().during(Duration.ofMillis(200))
                    .atMost(BOUND)
                    .until(() -> sink.written.size() == 2 && held.get() <= CREDITS + ASKED_AHEAD + 2);
            sink.open();
            await().atMost(BOUND).until(() -> sink.written.size() == 100);
            assertThat(sink.written).containsExactlyElementsOf(numbers(100));
            await(ends.there().close());
            await(piped);
        }
    }

    @Test
    void aLostPeerIsAnError(Vertx vertx) throws Exception {
        // It stands for a process that is killed: its engine is gone without a word.
        TransferClientOptions options = Target.quick(Target.clientOptions("tcp", 16));
        AtomicReference<Throwable> error = new AtomicReference<>();
        try (Target target = new Target("tcp");
                Severed severed = new Severed(target.engine.address())) {
            TransferClient client = TransferClient.create(vertx, options);
            TransferConnection here = await(client.connect(severed.address()));
            here.notifications().exceptionHandler(error::set).handler(message -> {});
            severed.cut();
            await().atMost(BOUND).until(() -> error.get() != null);
            assertThat(error.get()).isInstanceOf(ConnectionLostException.class);
            assertThat(Bounded.failure(here.ended())).isInstanceOf(ConnectionLostException.class);
        }
    }

    @Test
    void aConnectionHasOneStreamAtATime(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            Ends ends = connect(client(vertx, "tcp"), target);
            ConcurrentLinkedQueue<String> received = new ConcurrentLinkedQueue<>();
            ReadStream<Buffer> first = ends.here().notifications().handler(message -> received.add(message.toString()));
            send(ends.there(), 1);
            await().atMost(BOUND).until(() -> received.size() == 1);
            AtomicReference<Throwable> error = new AtomicReference<>();
            ends.here().notifications().exceptionHandler(error::set).handler(message -> {});
            await().atMost(BOUND).until(() -> error.get() != null);
            assertThat(error.get()).isInstanceOf(IllegalStateException.class);
            first.handler(null);
            ends.here().notifications().handler(message -> received.add(message.toString()));
            send(ends.there(), 1);
            await().atMost(BOUND).until(() -> received.size() == 2);
        }
    }

    /** Takes two, and then nothing until it is opened. */
    private static final class SlowSink implements WriteStream<Buffer> {
        final List<String> written = Collections.synchronizedList(new ArrayList<>());
        private Handler<Void> drain;
        private boolean open;

        @Override
        public synchronized Future<Void> write(Buffer data) {
            written.add(data.toString());
            return Future.succeededFuture();
        }

        @Override
        public Future<Void> end() {
            return Future.succeededFuture();
        }

        synchronized void open() {
            open = true;
            if (drain != null) {
                drain.handle(null);
            }
        }

        @Override
        public WriteStream<Buffer> exceptionHandler(Handler<Throwable> handler) {
            return this;
        }

        @Override
        public WriteStream<Buffer> setWriteQueueMaxSize(int maxSize) {
            return this;
        }

        @Override
        public synchronized boolean writeQueueFull() {
            return !open && written.size() >= 2;
        }

        @Override
        public synchronized WriteStream<Buffer> drainHandler(Handler<Void> handler) {
            drain = handler;
            return this;
        }
    }
}
