package io.sluice.vertx;

import static io.sluice.vertx.Bounded.BOUND;
import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.streams.ReadStream;
import io.vertx.core.streams.WriteStream;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A verticle that goes while everything it has begun is still under way. */
@ExtendWith(OwnVertx.class)
class UndeployTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();
    private static final TransferOptions NEVER = DEFAULTS.startAfter(StartEvent.of(new CompletableFuture<>()));

    /** Begins one of each thing that can be under way, and keeps what was promised. */
    private static final class Begins extends VerticleBase {
        private final Target target;
        private final TransferClientOptions options;
        final Map<String, Future<?>> promised = Collections.synchronizedMap(new LinkedHashMap<>());
        volatile TransferClient client;

        Begins(Target target, TransferClientOptions options) {
            this.target = target;
            this.options = options;
        }

        @Override
        public Future<?> start() {
            client = TransferClient.create(vertx, options);
            return client.connect(target.engine.address())
                    .compose(connection -> connection
                            .attach(target.region.descriptor())
                            .compose(remote -> client.allocate(1 << 20, RegionOptions.local())
                                    .onSuccess(local -> begin(new Target.Attached(connection, remote), local))));
        }

        private void begin(Target.Attached to, MemoryRegion local) {
            TransferConnection connection = to.connection();
            promised.put("write that waits", connection.write(local, 0, to.remote(), 0, 64, NEVER));
            promised.put("read that waits", connection.read(local, 0, to.remote(), 0, 64, NEVER));
            promised.put("add that waits", connection.fetchAdd(to.remote(), 0, 1, NEVER));
            for (int i = 0; i < 8; i++) {
                promised.put("large write " + i, connection.write(local, to.remote(), 0));
                promised.put("large read " + i, connection.read(local, to.remote(), 0));
                promised.put(
                        "buffer write " + i, connection.writeBuffer(Buffer.buffer(new byte[1 << 20]), to.remote(), 0));
                promised.put("buffer read " + i, connection.readBuffer(to.remote(), 0, 1 << 20));
            }
            // The other end has no listener, so the credits run out.
            for (int i = 0; i < 100; i++) {
                promised.put("notify " + i, connection.notify(Buffer.buffer("x")));
            }
            promised.put("signal", client.awaitAtLeast(local.signal(0), 1, BOUND.multipliedBy(10)));
            promised.put("quiet", connection.quiet());
            promised.put("flush", connection.flush());
            promised.put("connect", client.connect(target.engine.address()));
            promised.put("allocate", client.allocate(1 << 20, RegionOptions.local()));
            promised.put("health", client.health());
            promised.put("notifications", end(connection.notifications()));
            promised.put("accepted", end(client.accepted()));
            TransferElement element = new TransferElement(local, 0, to.remote(), 0, 64);
            promised.put("results", end(connection.writeVectored(List.of(element, element), NEVER)));
            promised.put("results of the client", end(client.readVectored(List.of(element, element), NEVER)));
            WriteStream<TransferElement> writes = connection.writes(NEVER);
            promised.put("write of a stream", writes.write(element));
            promised.put("end of a stream", writes.end());
            promised.put("end of the connection", connection.ended());
        }

        private static Future<Void> end(ReadStream<?> stream) {
            Promise<Void> ended = Promise.promise();
            stream.exceptionHandler(ended::tryFail)
                    .endHandler(nothing -> ended.tryComplete())
                    .handler(item -> {});
            return ended.future();
        }

        List<String> incomplete() {
            synchronized (promised) {
                return promised.entrySet().stream()
                        .filter(promise -> !promise.getValue().isComplete())
                        .map(Map.Entry::getKey)
                        .toList();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "EVENT_LOOP, tcp, false", "EVENT_LOOP, shm, false", "EVENT_LOOP, tcp, true", "EVENT_LOOP, shm, true",
        "WORKER, tcp, false", "WORKER, shm, true", "VIRTUAL_THREAD, tcp, true", "VIRTUAL_THREAD, shm, false"
    })
    void noFutureIsLeftIncomplete(ThreadingModel model, String transport, boolean shared, Vertx vertx)
            throws Exception {
        try (Target target = new Target(transport, options -> options.notificationCredits(4))) {
            TransferClientOptions options = Target.clientOptions(transport).setShared(shared);
            // Another one holds the shared engine, so that it outlives the verticle.
            TransferClient other = shared ? TransferClient.create(vertx, options) : null;
            Begins begins = new Begins(target, options);
            String id = await(vertx.deployVerticle(begins, new DeploymentOptions().setThreadingModel(model)));
            assertThat(begins.incomplete()).contains("write that waits", "signal", "results", "notifications");
            await(vertx.undeploy(id));
            await().atMost(BOUND)
                    .untilAsserted(() -> assertThat(begins.incomplete()).isEmpty());
            assertThat(begins.client.engine().regions())
                    .as("regions of the verticle; the staging region is the engine's")
                    .hasSizeLessThanOrEqualTo(shared ? 1 : 0);
            if (other != null) {
                await(other.close());
            }
        }
    }

    /** So that close and the ends of transfers meet at every moment. */
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void atWhateverMoment(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            for (int round = 0; round < 25; round++) {
                TransferClient client = TransferClient.create(
                        vertx,
                        Target.clientOptions(transport).setStagingBytes(1 << 16).setStagingSlotBytes(1 << 12));
                Target.Attached to = target.attach(client);
                MemoryRegion local = await(client.allocate(1 << 16, RegionOptions.local()));
                AtomicInteger begun = new AtomicInteger();
                AtomicInteger ended = new AtomicInteger();
                CompletableFuture<Void> submitted = new CompletableFuture<>();
                vertx.runOnContext(nothing -> {
                    for (int i = 0; i < 20; i++) {
                        begun.addAndGet(3);
                        to.connection().readBuffer(to.remote(), 0, 1 << 16).onComplete(any -> ended.incrementAndGet());
                        to.connection()
                                .writeBuffer(Buffer.buffer(new byte[1 << 14]), to.remote(), 0)
                                .onComplete(any -> ended.incrementAndGet());
                        to.connection().write(local, to.remote(), 0).onComplete(any -> ended.incrementAndGet());
                    }
                    submitted.complete(null);
                });
                await(submitted);
                long until = System.nanoTime() + round * 200_000L;
                while (System.nanoTime() < until) {
                    Thread.onSpinWait();
                }
                await(client.close());
                await().atMost(BOUND).until(() -> ended.get() == begun.get());
            }
        }
    }

    /**
     * The peer hangs with the verticle's bytes under way. The region goes only once nothing can touch it: when the liveness
     * time-out has ended the connection, and no credit is out any more.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noRegionIsFreedUnderATransfer(boolean shared, Vertx vertx) throws Exception {
        try (Target target = new Target("tcp");
                Severed severed = new Severed(target.engine.address())) {
            TransferClientOptions options =
                    Target.quick(Target.clientOptions("tcp", 8)).setShared(shared);
            TransferClient other = shared ? TransferClient.create(vertx, options) : null;
            CompletableFuture<Void> started = new CompletableFuture<>();
            CompletableFuture<MemoryRegion> region = new CompletableFuture<>();
            CompletableFuture<TransferConnection> made = new CompletableFuture<>();
            AtomicInteger ended = new AtomicInteger();
            VerticleBase verticle = new VerticleBase() {
                @Override
                public Future<?> start() {
                    TransferClient client = TransferClient.create(vertx, options);
                    return client.connect(severed.address())
                            .compose(connection -> connection
                                    .attach(target.region.descriptor())
                                    .compose(remote -> client.allocate(8 << 20, RegionOptions.local())
                                            .onSuccess(local -> {
                                                severed.freeze();
                                                for (int i = 0; i < 8; i++) {
                                                    connection
                                                            .read(local, remote, 0)
                                                            .onComplete(any -> ended.incrementAndGet());
                                                }
                                                made.complete(connection);
                                                region.complete(local);
                                                started.complete(null);
                                            })));
                }
            };
            String id = await(vertx.deployVerticle(verticle));
            await(started);
            MemoryRegion local = await(region);
            var window = await(made).connection().window();
            await().atMost(BOUND).until(() -> window.operations() > 0);
            Future<Void> undeployed = vertx.undeploy(id);
            while (!undeployed.isComplete()) {
                // first whether it is gone, and then the credits: they only get less
                boolean freed = !local.segment().scope().isAlive();
                int inFlight = window.operations();
                assertThat(freed && inFlight > 0)
                        .as("freed with %d in flight", inFlight)
                        .isFalse();
                Thread.sleep(1);
            }
            await(undeployed);
            assertThat(window.operations()).isZero();
            await().atMost(BOUND).until(() -> ended.get() == 8);
            if (other != null) {
                await(other.close());
            }
        }
    }
}
