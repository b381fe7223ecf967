package io.sluice.vertx;

import static io.sluice.vertx.Bounded.BOUND;
import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.engine.TransferTimeoutException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Buffers go through staging memory, and that comes back. */
@ExtendWith(OwnVertx.class)
class BufferTransfersTest {
    private static final int SLOT = 4096;
    private static final int SLOTS = 4;

    private static TransferClient client(Vertx vertx, String transport) {
        return client(vertx, Target.clientOptions(transport, 8));
    }

    private static TransferClient client(Vertx vertx, TransferClientOptions options) {
        return TransferClient.create(vertx, options.setStagingSlotBytes(SLOT).setStagingBytes(SLOTS * SLOT));
    }

    private static Buffer random(int bytes) {
        byte[] drawn = new byte[bytes];
        new Random(bytes).nextBytes(drawn);
        return Buffer.buffer(drawn);
    }

    private static void allSlotsAreFree(TransferClient client) {
        await().atMost(BOUND)
                .until(() -> ((DefaultTransferClient) client).staging().free() == SLOTS);
    }

    @ParameterizedTest
    @CsvSource({
        "tcp, 1", "tcp, 4095", "tcp, 4096", "tcp, 4097", "tcp, 10000000",
        "shm, 1", "shm, 4095", "shm, 4096", "shm, 4097", "shm, 10000000"
    })
    void whatIsWrittenIsRead(String transport, int bytes, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            TransferClient client = client(vertx, transport);
            Target.Attached to = target.attach(client);
            Buffer buffer = random(bytes);
            TransferResult result = await(to.connection().writeBuffer(buffer, to.remote(), 3));
            assertThat(result.bytes()).isEqualTo(bytes);
            assertThat(target.at(2)).isZero();
            assertThat(target.at(3)).isEqualTo(buffer.getByte(0));
            assertThat(await(to.connection().readBuffer(to.remote(), 3, bytes))).isEqualTo(buffer);
            allSlotsAreFree(client);
        }
    }

    @Test
    void anEmptyBufferIsFine(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            Target.Attached to = target.attach(client(vertx, "tcp"));
            assertThat(await(to.connection().writeBuffer(Buffer.buffer(), to.remote(), 0))
                            .bytes())
                    .isZero();
            assertThat(await(to.connection().readBuffer(to.remote(), 0, 0)).length())
                    .isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void manyAtATimeWaitForTheirTurn(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            TransferClient client = client(vertx, transport);
            Target.Attached to = target.attach(client);
            List<Future<TransferResult>> writes = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                writes.add(to.connection().writeBuffer(random(10_000 + i), to.remote(), i * 20_000L));
            }
            await(Future.all(writes));
            for (int i = 0; i < 100; i++) {
                assertThat(await(to.connection().readBuffer(to.remote(), i * 20_000L, 10_000 + i)))
                        .isEqualTo(random(10_000 + i));
            }
            allSlotsAreFree(client);
        }
    }

    @Test
    void mistakesFailTheFuture(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp");
                Target other = new Target("tcp")) {
            TransferClient client = client(vertx, "tcp");
            Target.Attached to = target.attach(client);
            RemoteRegion foreign = other.attach(client).remote();
            assertThat(Bounded.failure(to.connection().writeBuffer(random(10), to.remote(), Target.REGION_BYTES - 9)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(Bounded.failure(to.connection().readBuffer(to.remote(), 0, -1)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(Bounded.failure(to.connection().writeBuffer(random(10), foreign, 0)))
                    .isInstanceOf(IllegalArgumentException.class);
            TransferOptions withEvent =
                    TransferOptions.defaults().startAfter(StartEvent.of(CompletableFuture.completedFuture(null)));
            assertThat(Bounded.failure(to.connection().writeBuffer(random(10), to.remote(), 0, withEvent)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aRefusalFailsTheWhole(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = client(vertx, "tcp");
            Target.Attached to = target.attach(client);
            RemoteRegion readOnly = await(to.connection()
                    .attach(target.engine
                            .allocate(1 << 20, RegionOptions.readOnly())
                            .descriptor()));
            assertThat(Bounded.failure(to.connection().writeBuffer(random(1 << 20), readOnly, 0)))
                    .isInstanceOf(RemoteAccessException.class);
            allSlotsAreFree(client);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aCancelGivesTheSlotsBack(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            TransferClient client = client(vertx, transport);
            Target.Attached to = target.attach(client);
            await(to.connection().writeBuffer(random(10), to.remote(), 0));
            Promise<TransferHandle<TransferResult>> cancelled = Promise.promise();
            vertx.runOnContext(nothing -> {
                // It goes on with this context's help alone, so it is not done when it is cancelled.
                TransferHandle<TransferResult> write = to.connection()
                        .cancellable()
                        .writeBuffer(random(10_000_000), to.remote(), 0, TransferOptions.defaults());
                write.cancel();
                write.cancel();
                cancelled.complete(write);
            });
            TransferHandle<TransferResult> write = await(cancelled.future());
            assertThat(Bounded.failure(write.result())).isInstanceOf(TransferCancelledException.class);
            await(write.quiesced());
            // a cancelled one leaves the pool as it was
            await(to.connection().writeBuffer(random(100_000), to.remote(), 0));
            allSlotsAreFree(client);
        }
    }

    @Test
    void aDeadlineIsForTheWhole(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp");
                Severed slow = new Severed(target.engine.address())) {
            // nothing but the deadline ends it
            TransferClient client = client(vertx, Target.clientOptions("tcp", 8));
            TransferConnection connection = await(client.connect(slow.address()));
            RemoteRegion remote = await(connection.attach(target.region.descriptor()));
            slow.freeze();
            Future<TransferResult> write = connection.writeBuffer(
                    random(10_000_000), remote, 0, TransferOptions.defaults().withDeadline(Duration.ofMillis(300)));
            assertThat(Bounded.failure(write)).isInstanceOf(TransferTimeoutException.class);
        }
    }

    @Test
    void aClosedClientFailsWhatWaits(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp");
                Severed slow = new Severed(target.engine.address())) {
            TransferClient client = client(vertx, Target.quick(Target.clientOptions("tcp", 8)));
            TransferConnection connection = await(client.connect(slow.address()));
            RemoteRegion remote = await(connection.attach(target.region.descriptor()));
            slow.freeze();
            List<Future<TransferResult>> writes = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                writes.add(connection.writeBuffer(random(100_000), remote, 0));
            }
            await(client.close());
            for (Future<TransferResult> write : writes) {
                assertThat(Bounded.failure(write))
                        .isInstanceOfAny(
                                ConnectionClosedException.class,
                                ConnectionLostException.class,
                                OutcomeUnknownException.class);
            }
        }
    }
}
