package io.sluice.vertx;

import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every future completes on the context that asked for it. */
@ExtendWith(OwnVertx.class)
class ContextsTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();

    /** Does one of each thing, and writes down what came elsewhere than it should. */
    private static final class Caller extends VerticleBase {
        private final Target target;
        private final String transport;
        private final ThreadingModel model;
        final ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
        final ConcurrentLinkedQueue<String> strange = new ConcurrentLinkedQueue<>();
        final Promise<Void> done = Promise.promise();

        Caller(Target target, String transport, ThreadingModel model) {
            this.target = target;
            this.transport = transport;
            this.model = model;
        }

        @Override
        public Future<?> start() {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport));
            here("connect", client.connect(target.engine.address()))
                    .compose(connection -> here("attach", connection.attach(target.region.descriptor()))
                            .compose(remote -> here("allocate", client.allocate(1 << 20, RegionOptions.local()))
                                    .compose(local -> each(connection, remote, local))))
                    .compose(nothing -> here("health", client.health()))
                    .<Void>mapEmpty()
                    .onComplete(done);
            return Future.succeededFuture();
        }

        private Future<?> each(TransferConnection connection, RemoteRegion remote, MemoryRegion local) {
            // small ones are carried out by the calling thread on shm, large ones by a poller
            return here("small write", connection.write(local, 0, remote, 0, 64, DEFAULTS))
                    .compose(any -> here("large write", connection.write(local, remote, 0)))
                    .compose(any -> here("read", connection.read(local, remote, 0)))
                    .compose(any -> here("buffer", connection.writeBuffer(Buffer.buffer("a buffer"), remote, 0)))
                    .compose(any -> here("back", connection.readBuffer(remote, 0, 8)))
                    .compose(any -> here("add", connection.fetchAdd(remote, 8, 1, DEFAULTS)))
                    .compose(any -> here("notify", connection.notify(Buffer.buffer("x"))))
                    .compose(any -> here("quiet", connection.quiet()))
                    .compose(any -> here(
                            "mistake",
                            connection
                                    .write(local, 0, remote, Target.REGION_BYTES, 1, DEFAULTS)
                                    .otherwiseEmpty()))
                    .compose(any -> results(connection, remote, local));
        }

        private Future<Void> results(TransferConnection connection, RemoteRegion remote, MemoryRegion local) {
            Promise<Void> end = Promise.promise();
            TransferElement element = new TransferElement(local, 0, remote, 0, 64);
            connection
                    .writeVectored(List.of(element, element), DEFAULTS)
                    .exceptionHandler(end::fail)
                    .endHandler(nothing -> {
                        note("end");
                        end.complete();
                    })
                    .handler(result -> note("result"));
            return end.future();
        }

        private <T> Future<T> here(String what, Future<T> future) {
            return future.onComplete(any -> note(what));
        }

        private void note(String what) {
            Context current = Vertx.currentContext();
            boolean thread = switch (model) {
                case EVENT_LOOP -> Context.isOnEventLoopThread();
                case WORKER ->
                    Context.isOnWorkerThread() && !Thread.currentThread().isVirtual();
                default -> Thread.currentThread().isVirtual();
            };
            seen.add(what);
            if (!context.equals(current) || current.threadingModel() != model || !thread) {
                strange.add(what + " on " + Thread.currentThread() + ", context " + current);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "EVENT_LOOP, tcp", "WORKER, tcp", "VIRTUAL_THREAD, tcp",
        "EVENT_LOOP, shm", "WORKER, shm", "VIRTUAL_THREAD, shm"
    })
    void completionsComeOnTheCallersContext(ThreadingModel model, String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            Caller caller = new Caller(target, transport, model);
            await(vertx.deployVerticle(caller, new DeploymentOptions().setThreadingModel(model)));
            await(caller.done.future());
            assertThat(caller.strange).isEmpty();
            assertThat(caller.seen)
                    .contains("small write", "large write", "back", "mistake", "result", "end", "health");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aVirtualThreadMayAwaitInsideACompletion(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            VerticleBase verticle = new VerticleBase() {
                @Override
                public Future<?> start() {
                    TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport));
                    TransferConnection connection =
                            client.connect(target.engine.address()).await();
                    RemoteRegion remote =
                            connection.attach(target.region.descriptor()).await();
                    MemoryRegion local =
                            client.allocate(4096, RegionOptions.local()).await();
                    Future<?> second = connection.write(local, remote, 4096);
                    // what it awaits may have come together with what is being handed over
                    return connection.write(local, remote, 0).onSuccess(first -> second.await());
                }
            };
            await(vertx.deployVerticle(
                    verticle, new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aLongChainDoesNotDeepenTheStack(String transport, Vertx vertx) throws Exception {
        int links = 5_000;
        try (Target target = new Target(transport)) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            AtomicInteger written = new AtomicInteger();
            Promise<Void> done = Promise.promise();
            Runnable[] link = new Runnable[1];
            link[0] = () -> to.connection()
                    .write(local, to.remote(), 0)
                    .onFailure(done::tryFail)
                    .onSuccess(result -> {
                        if (written.incrementAndGet() == links) {
                            done.complete();
                        } else {
                            link[0].run();
                        }
                    });
            vertx.runOnContext(nothing -> link[0].run());
            await(done.future());
        }
    }

    @Test
    void aThreadWithoutAContextIsGivenOne(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Promise<Boolean> onLoop = Promise.promise();
            client.connect(target.engine.address())
                    .onComplete(connected -> onLoop.complete(Context.isOnEventLoopThread()));
            assertThat(await(onLoop.future())).isTrue();
        }
    }
}
