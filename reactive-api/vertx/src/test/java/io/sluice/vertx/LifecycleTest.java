package io.sluice.vertx;

import static io.sluice.vertx.Bounded.BOUND;
import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Signal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.engine.TransferTimeoutException;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.streams.ReadStream;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a client ends, and what ends with it. */
@ExtendWith(OwnVertx.class)
class LifecycleTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();

    /** Has a client and keeps 32 writes going. */
    private static final class Busy extends VerticleBase {
        private final Target target;
        private final TransferClientOptions options;
        final AtomicInteger started = new AtomicInteger();
        final AtomicInteger ended = new AtomicInteger();
        final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
        final AtomicBoolean stopping = new AtomicBoolean();
        volatile TransferClient client;

        Busy(Target target, TransferClientOptions options) {
            this.target = target;
            this.options = options;
        }

        @Override
        public Future<?> start() {
            client = TransferClient.create(vertx, options);
            return client.connect(target.engine.address())
                    .compose(connection -> connection
                            .attach(target.region.descriptor())
                            .compose(remote -> client.allocate(1 << 18, RegionOptions.local())
                                    .onSuccess(local -> {
                                        for (int i = 0; i < 32; i++) {
                                            write(connection, remote, local);
                                        }
                                    })));
        }

        private void write(TransferConnection connection, RemoteRegion remote, MemoryRegion local) {
            started.incrementAndGet();
            connection.write(local, remote, 0).onComplete(result -> {
                // before it counts as ended: a test that has seen all ends looks at the errors
                if (result.failed()) {
                    errors.add(result.cause());
                } else {
                    write(connection, remote, local);
                }
                ended.incrementAndGet();
            });
        }

        @Override
        public Future<?> stop() {
            stopping.set(client.engine().connections().isEmpty());
            return Future.succeededFuture();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "EVENT_LOOP, tcp, false",
        "WORKER, tcp, false",
        "VIRTUAL_THREAD, tcp, false",
        "EVENT_LOOP, shm, false",
        "WORKER, shm, true",
        "VIRTUAL_THREAD, shm, true",
        "EVENT_LOOP, tcp, true"
    })
    void undeployingEndsEveryTransfer(ThreadingModel model, String transport, boolean shared, Vertx vertx)
            throws Exception {
        try (Target target = new Target(transport)) {
            Busy busy = new Busy(target, Target.clientOptions(transport).setShared(shared));
            String id = await(vertx.deployVerticle(busy, new DeploymentOptions().setThreadingModel(model)));
            await().atMost(BOUND).until(() -> busy.ended.get() > 100);
            await(vertx.undeploy(id));
            assertThat(busy.stopping).as("the client was closed before stop").isTrue();
            assertThat(busy.client.engine().regions()).isEmpty();
            await().atMost(BOUND).until(() -> busy.ended.get() == busy.started.get());
            assertThat(busy.errors).hasSize(32).allMatch(error -> error instanceof SluiceException);
            assertThat(vertx.deploymentIDs()).isEmpty();
            await().atMost(BOUND).until(() -> target.engine.connections().isEmpty());
        }
    }

    @Test
    void closingVertxClosesAClientOutsideOfAVerticle() throws Exception {
        Vertx vertx = Vertx.vertx();
        TransferClient client;
        try {
            client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            await().atMost(BOUND).until(() -> vertx.deploymentIDs().size() == 1);
        } finally {
            await(vertx.close());
        }
        assertThatThrownBy(() -> client.engine().allocate(1, RegionOptions.local()))
                .isInstanceOf(ConnectionClosedException.class);
    }

    @Test
    void aClientOfAVerticleThatDoesNotStartIsClosed(Vertx vertx) throws Exception {
        AtomicReference<TransferClient> made = new AtomicReference<>();
        VerticleBase failing = new VerticleBase() {
            @Override
            public Future<?> start() {
                made.set(TransferClient.create(vertx, Target.clientOptions("tcp")));
                return Future.failedFuture("no");
            }
        };
        assertThat(Bounded.failure(vertx.deployVerticle(failing))).hasMessage("no");
        await().atMost(BOUND)
                .until(() -> await(made.get().health()).getString("status").equals("DOWN"));
        await().atMost(BOUND).until(() -> vertx.deploymentIDs().isEmpty());
    }

    @Test
    void closingTwiceIsFine(Vertx vertx) throws Exception {
        TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
        Future<Void> first = client.close();
        Future<Void> second = client.close();
        await(first);
        await(second);
        await(client.close());
        await().atMost(BOUND).until(() -> vertx.deploymentIDs().isEmpty());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClosedClientRefusesAll(boolean shared, Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClientOptions options = Target.clientOptions("tcp").setShared(shared);
            TransferClient other = TransferClient.create(vertx, options);
            TransferClient client = TransferClient.create(vertx, options);
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            await(client.close());
            assertThat(Bounded.failure(client.allocate(64, RegionOptions.local())))
                    .isInstanceOf(ConnectionClosedException.class);
            assertThat(Bounded.failure(client.connect(target.engine.address()))).isInstanceOf(SluiceException.class);
            assertThat(Bounded.failure(to.connection().write(local, to.remote(), 0)))
                    .isInstanceOf(SluiceException.class);
            CompletableFuture<Void> ended = new CompletableFuture<>();
            client.accepted().endHandler(ended::complete).handler(connection -> {});
            await(ended);
            await(other.close());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatWaitsEndsWithTheClient(boolean shared, Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClientOptions options = Target.clientOptions("tcp").setShared(shared);
            TransferClient other = TransferClient.create(vertx, options);
            TransferClient client = TransferClient.create(vertx, options);
            TransferConnection cached = await(client.connection(target.engine.address()));
            Future<TransferResult> held = cached.attach(target.region.descriptor())
                    .compose(remote -> client.allocate(64, RegionOptions.local())
                            .compose(local -> cached.write(
                                    local,
                                    0,
                                    remote,
                                    0,
                                    64,
                                    DEFAULTS.startAfter(StartEvent.of(new CompletableFuture<>())))));
            await().atMost(BOUND).until(() -> cached.connection().pending() == 1);
            CompletableFuture<Void> notifications = new CompletableFuture<>();
            cached.notifications().endHandler(notifications::complete).handler(message -> {});
            await(client.close());
            assertThat(Bounded.failure(held))
                    .isInstanceOfAny(TransferCancelledException.class, ConnectionClosedException.class);
            await(notifications);
            await(other.close());
        }
    }

    @Test
    void aCancelledTransferEndsAndIsQuiet(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            TransferHandle<TransferResult> write = to.connection()
                    .cancellable()
                    .write(local, 0, to.remote(), 0, 64, DEFAULTS.startAfter(StartEvent.of(new CompletableFuture<>())));
            write.cancel();
            write.cancel();
            assertThat(Bounded.failure(write.result())).isInstanceOf(TransferCancelledException.class);
            await(write.quiesced());
            await().atMost(BOUND).until(() -> to.connection().connection().pending() == 0);
            TransferHandle<Long> add = to.connection().cancellable().fetchAdd(to.remote(), 0, 5, DEFAULTS);
            assertThat(await(add.result())).isZero();
            add.cancel();
            await(add.quiesced());
        }
    }

    @Test
    void errorsAreTyped(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            TransferOptions late = new TransferOptions(Duration.ofMillis(50), DEFAULTS.priority(), null, null)
                    .startAfter(StartEvent.of(new CompletableFuture<>()));
            assertThat(Bounded.failure(to.connection().write(local, 0, to.remote(), 0, 64, late)))
                    .isInstanceOf(TransferTimeoutException.class);
            assertThat(Bounded.failure(to.connection().lookup("nothing"))).isInstanceOf(RegionNotFoundException.class);
            assertThat(await(to.connection().lookup("pool")).length()).isEqualTo(Target.REGION_BYTES);
            Signal signal = local.signal(0);
            assertThat(Bounded.failure(client.awaitAtLeast(signal, 1, Duration.ofMillis(50))))
                    .isInstanceOf(TransferTimeoutException.class);
            Future<Long> waiting = client.awaitAtLeast(signal, 7, BOUND);
            signal.add(7);
            assertThat(await(waiting)).isEqualTo(7);
            Future<Long> forgotten = client.awaitAtLeast(signal, 8, BOUND);
            await(client.close(local));
            assertThat(Bounded.failure(forgotten)).isInstanceOf(RegionClosedException.class);
        }
    }

    @Test
    void acceptedConnectionsAreAStream(Vertx vertx) throws Exception {
        TransferClientOptions options =
                Target.clientOptions("tcp").configureEngine(engine -> engine.listen("127.0.0.1", 0));
        TransferClient client = TransferClient.create(vertx, options);
        try (Target target = new Target("tcp")) {
            Connection early = await(target.engine.connect(client.address()));
            ConcurrentLinkedQueue<TransferConnection> accepted = new ConcurrentLinkedQueue<>();
            CompletableFuture<Void> ended = new CompletableFuture<>();
            var stream = client.accepted();
            stream.pause();
            stream.endHandler(ended::complete).handler(accepted::add);
            await(target.engine.connect(client.address()));
            await(target.engine.connect(client.address()));
            await().during(Duration.ofMillis(100)).atMost(BOUND).until(accepted::isEmpty);
            stream.fetch(1);
            await().atMost(BOUND).until(() -> accepted.size() == 1);
            stream.fetch(1);
            await().atMost(BOUND).until(() -> accepted.size() == 2);
            stream.resume();
            await().atMost(BOUND).until(() -> accepted.size() == 3);
            assertThat(accepted)
                    .extracting(connection -> connection.connection().peer())
                    .isEqualTo(Collections.nCopies(3, target.engine.id()));
            await(client.close());
            await(ended);
            await().atMost(BOUND).until(() -> early.state() != ConnectionState.OPEN);
        }
    }

    @Test
    void namesOfDeploymentsComeAndGo(Vertx vertx) throws Exception {
        TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
        await().atMost(BOUND).until(() -> vertx.deploymentIDs().size() == 1);
        Set<String> before = vertx.deploymentIDs();
        await(vertx.undeploy(before.iterator().next()));
        assertThat(await(client.health()).getString("status")).isEqualTo("DOWN");
    }

    /** Gives elements as they are asked for, and cannot be stopped. */
    private static final class Unstoppable implements ReadStream<TransferElement> {
        private final TransferElement element;
        private Handler<TransferElement> handler = any -> {};
        final AtomicInteger refused = new AtomicInteger();
        private boolean begun;

        Unstoppable(TransferElement element) {
            this.element = element;
        }

        private ReadStream<TransferElement> refuse() {
            refused.incrementAndGet();
            throw new IllegalStateException("this stream does not stop");
        }

        @Override
        public ReadStream<TransferElement> handler(Handler<TransferElement> elements) {
            if (elements == null) {
                return refuse();
            }
            begun = true;
            handler = elements;
            return this;
        }

        @Override
        public ReadStream<TransferElement> pause() {
            return begun ? refuse() : this;
        }

        @Override
        public ReadStream<TransferElement> resume() {
            return this;
        }

        @Override
        public ReadStream<TransferElement> fetch(long amount) {
            for (long i = 0; i < amount; i++) {
                handler.handle(element);
            }
            return this;
        }

        @Override
        public ReadStream<TransferElement> exceptionHandler(Handler<Throwable> failures) {
            return this;
        }

        @Override
        public ReadStream<TransferElement> endHandler(Handler<Void> end) {
            return this;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStreamThatDoesNotStopHoldsNothingUp(boolean shared, Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClientOptions options = Target.clientOptions("tcp", 4).setShared(shared);
            TransferClient other = TransferClient.create(vertx, options);
            TransferClient client = TransferClient.create(vertx, options);
            TransferConnection cached = await(client.connection(target.engine.address()));
            RemoteRegion remote = await(cached.attach(target.region.descriptor()));
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            Unstoppable elements = new Unstoppable(new TransferElement(local, 0, remote, 0, 64));
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            cached.writeVectored(elements, DEFAULTS.startAfter(StartEvent.of(new CompletableFuture<>())))
                    .exceptionHandler(failure::complete)
                    .handler(result -> {});
            await().atMost(BOUND).until(() -> cached.connection().pending() > 0);
            await(client.close());
            assertThat(elements.refused).hasPositiveValue();
            assertThat(await(failure)).isInstanceOf(ConnectionClosedException.class);
            await().atMost(BOUND).until(() -> cached.connection().pending() == 0);
            assertThat(local.isOpen()).isFalse();
            await().atMost(BOUND).until(() -> vertx.deploymentIDs().size() == 1);
            await(other.close());
        }
    }

    /** Its client is undeployed before it was deployed, for which Vert.x reports an error of its own. */
    @Test
    void aVerticleThatFailsAtOnceLeavesNothingAndReportsNothingElse(Vertx vertx) throws Exception {
        Set<Throwable> reported = Collections.synchronizedSet(new HashSet<>());
        vertx.exceptionHandler(reported::add);
        for (int i = 0; i < 20; i++) {
            AtomicReference<TransferClient> made = new AtomicReference<>();
            IllegalStateException refusal = new IllegalStateException("not today");
            Future<String> deployed = vertx.deployVerticle(new VerticleBase() {
                @Override
                public Future<?> start() {
                    made.set(TransferClient.create(vertx));
                    return Future.failedFuture(refusal);
                }
            });
            assertThat(Bounded.failure(deployed)).isSameAs(refusal);
            await(made.get().close());
        }
        assertThat(reported).isEmpty();
    }
}
