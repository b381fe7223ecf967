package io.sluice.vertx;

import static io.sluice.vertx.Bounded.BOUND;
import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers of threads that may wait. */
@ExtendWith(OwnVertx.class)
class BlockingTransferTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();

    /** Runs something as the start of a verticle. */
    private static <T> T inVerticle(Vertx vertx, ThreadingModel model, Callable<T> work) throws Exception {
        CompletableFuture<T> done = new CompletableFuture<>();
        VerticleBase verticle = new VerticleBase() {
            @Override
            public Future<?> start() {
                try {
                    done.complete(work.call());
                } catch (Throwable e) {
                    done.completeExceptionally(e);
                }
                return Future.succeededFuture();
            }
        };
        await(vertx.deployVerticle(verticle, new DeploymentOptions().setThreadingModel(model)));
        return await(done);
    }

    private static long oneOfEach(Target.Attached to, MemoryRegion local) {
        TransferConnection transfers = to.connection();
        local.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 7);
        transfers.await(with -> with.write(local, 0, to.remote(), 0, local.length(), DEFAULTS));
        local.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
        transfers.await(with -> with.read(local, 0, to.remote(), 0, local.length(), DEFAULTS));
        assertThat(local.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
        transfers.await(with -> with.writeBuffer(Buffer.buffer("a buffer"), to.remote(), 100, DEFAULTS));
        Buffer read = transfers.await(with -> with.readBuffer(to.remote(), 100, 8, DEFAULTS));
        assertThat(read).hasToString("a buffer");
        transfers.await(with -> with.put(to.remote(), 200, 5, 8, DEFAULTS));
        long replaced = transfers.await(with -> with.compareAndSwap(to.remote(), 200, 5, 6, DEFAULTS));
        assertThat(replaced).isEqualTo(5);
        transfers.await(with -> with.notify(Buffer.buffer("done"), DEFAULTS));
        assertThatThrownBy(() ->
                        transfers.await(with -> with.write(local, 0, to.remote(), Target.REGION_BYTES, 1, DEFAULTS)))
                .isInstanceOf(IndexOutOfBoundsException.class);
        return transfers.await(with -> with.fetchAdd(to.remote(), 200, 1, DEFAULTS));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aVirtualThreadOfVertxMayWait(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(4096, RegionOptions.local()));
            long held = inVerticle(vertx, ThreadingModel.VIRTUAL_THREAD, () -> oneOfEach(to, local));
            assertThat(held).isEqualTo(6);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void soMayAThreadWithoutVertx(boolean virtual, Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(4096, RegionOptions.local()));
            CompletableFuture<Long> held = new CompletableFuture<>();
            (virtual ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> {
                try {
                    held.complete(oneOfEach(to, local));
                } catch (Throwable e) {
                    held.completeExceptionally(e);
                }
            });
            assertThat(await(held)).isEqualTo(6);
        }
    }

    /** The handler that ends the wait runs on the waiting context. */
    @Test
    void theContextGoesOnMeanwhile(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            CompletableFuture<Void> event = new CompletableFuture<>();
            inVerticle(vertx, ThreadingModel.VIRTUAL_THREAD, () -> {
                Context context = vertx.getOrCreateContext();
                context.runOnContext(nothing -> event.complete(null));
                TransferOptions afterEvent = DEFAULTS.startAfter(StartEvent.of(event));
                return to.connection().await(with -> with.write(local, 0, to.remote(), 0, 64, afterEvent));
            });
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ThreadingModel.class,
            names = {"EVENT_LOOP", "WORKER"})
    void otherThreadsOfVertxMustNot(ThreadingModel model, Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            local.segment().fill((byte) 9);
            Throwable refusal = inVerticle(vertx, model, () -> {
                try {
                    to.connection().await(with -> with.write(local, 0, to.remote(), 0, 64, DEFAULTS));
                } catch (IllegalStateException e) {
                    return e;
                }
                return new AssertionError("it waited");
            });
            assertThat(refusal).isInstanceOf(IllegalStateException.class);
            await(to.connection().quiet());
            assertThat(target.at(0)).as("nothing was written").isZero();
        }
    }

    @Test
    void anInterruptCancels(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            TransferOptions never = DEFAULTS.startAfter(StartEvent.of(new CompletableFuture<>()));
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread thread = Thread.ofVirtual().start(() -> {
                try {
                    to.connection().await(with -> with.write(local, 0, to.remote(), 0, 64, never));
                } catch (RuntimeException e) {
                    thrown.set(e);
                }
                interrupted.complete(Thread.currentThread().isInterrupted());
            });
            await().atMost(BOUND).until(() -> to.connection().connection().pending() == 1);
            thread.interrupt();
            assertThat(await(interrupted)).isTrue();
            assertThat(thrown.get()).isInstanceOf(TransferCancelledException.class);
            await().atMost(BOUND).until(() -> to.connection().connection().pending() == 0);
            await(to.connection().quiesced());
        }
    }

    @Test
    void whatFailsIsThrown(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp"));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            await(target.region.close());
            assertThatThrownBy(() -> to.connection().await(with -> with.read(local, 0, to.remote(), 0, 64, DEFAULTS)))
                    .isInstanceOf(RemoteAccessException.class);
        }
    }
}
