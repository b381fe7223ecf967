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
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.AsyncFile;
import io.vertx.core.file.OpenOptions;
import io.vertx.core.streams.WriteStream;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams that write what is written to them. */
@ExtendWith(OwnVertx.class)
class WriteStreamsTest {
    private static final TransferOptions DEFAULTS = TransferOptions.defaults();
    private static final int WINDOW = 8;

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void itIsFullWithTheWindowAndDrainedAtHalf(String transport, Vertx vertx) throws Exception {
        try (Target target = new Target(transport)) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions(transport, WINDOW));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            List<CompletableFuture<Void>> events = new ArrayList<>();
            AtomicReference<CompletableFuture<Void>> next = new AtomicReference<>();
            AtomicInteger drains = new AtomicInteger();
            // Each write starts when its event says so, so the test alone drains the stream.
            StartEvent event = listener -> next.get().thenRun(() -> listener.happened(null));
            WriteStream<TransferElement> writes = to.connection().writes(DEFAULTS.startAfter(event));
            TransferElement element = new TransferElement(local, 0, to.remote(), 0, 64);
            List<Future<Void>> futures = new ArrayList<>();
            for (int i = 0; i < WINDOW; i++) {
                assertThat(writes.writeQueueFull()).as("after %d", i).isFalse();
                next.set(new CompletableFuture<>());
                events.add(next.get());
                futures.add(writes.write(element));
            }
            assertThat(writes.writeQueueFull()).isTrue();
            writes.drainHandler(nothing -> drains.incrementAndGet());
            for (int i = 0; i < WINDOW; i++) {
                assertThat(drains.get()).as("drained after %d", i).isEqualTo(i <= WINDOW / 2 - 1 ? 0 : 1);
                events.get(i).complete(null);
                await(futures.get(i));
                int ended = i + 1;
                await().atMost(BOUND).until(() -> drains.get() == (ended < WINDOW / 2 ? 0 : 1));
            }
            assertThat(writes.writeQueueFull()).isFalse();
            await(writes.end());
            assertThat(Bounded.failure(writes.write(element))).isInstanceOf(IllegalStateException.class);
            assertThat(Bounded.failure(writes.end())).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void whoAsksTooLateIsTold(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp", WINDOW));
            Target.Attached to = target.attach(client);
            CompletableFuture<Void> drained = new CompletableFuture<>();
            to.connection().writes(DEFAULTS).drainHandler(nothing -> drained.complete(null));
            await(drained);
        }
    }

    @Test
    void theEndHasTheFirstError(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp", WINDOW));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            WriteStream<TransferElement> writes = to.connection().writes(DEFAULTS);
            AtomicReference<Throwable> heard = new AtomicReference<>();
            writes.exceptionHandler(heard::set);
            Future<Void> fine = writes.write(new TransferElement(local, 0, to.remote(), 0, 64));
            Future<Void> wrong = writes.write(new TransferElement(local, 0, to.remote(), Target.REGION_BYTES, 64));
            Future<Void> end = writes.end(new TransferElement(local, 0, to.remote(), 64, 64));
            await(fine);
            assertThat(Bounded.failure(wrong)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(Bounded.failure(end)).isInstanceOf(IndexOutOfBoundsException.class);
            await().atMost(BOUND).until(() -> heard.get() instanceof IndexOutOfBoundsException);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aFileIsPipedIntoAPeersMemory(String transport, Vertx vertx, @TempDir Path folder) throws Exception {
        byte[] bytes = new byte[3_000_001];
        new Random(7).nextBytes(bytes);
        Path path = Files.write(folder.resolve("file"), bytes);
        try (Target target = new Target(transport)) {
            TransferClientOptions options = Target.clientOptions(transport, WINDOW);
            TransferClient client = TransferClient.create(
                    vertx, options.setStagingBytes(4 << 12).setStagingSlotBytes(1 << 12));
            Target.Attached to = target.attach(client);
            AsyncFile file = await(vertx.fileSystem().open(path.toString(), new OpenOptions()));
            await(file.pipeTo(to.connection().bufferWrites(to.remote(), 5, DEFAULTS)));
            assertThat(target.region.segment().asSlice(5, bytes.length).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(bytes);
            await().atMost(BOUND)
                    .until(() -> ((DefaultTransferClient) client).staging().free() == 4);
        }
    }

    @Test
    void aPipeEndsWithTheErrorOfAWrite(Vertx vertx, @TempDir Path folder) throws Exception {
        Path path = Files.write(folder.resolve("file"), new byte[1 << 20]);
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp", WINDOW));
            Target.Attached to = target.attach(client);
            AsyncFile file = await(vertx.fileSystem().open(path.toString(), new OpenOptions()));
            WriteStream<Buffer> writes =
                    to.connection().bufferWrites(to.remote(), Target.REGION_BYTES - 10_000, DEFAULTS);
            assertThat(Bounded.failure(file.pipeTo(writes))).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void whatCannotBeWrittenCountsNoMore(Vertx vertx) throws Exception {
        try (Target target = new Target("tcp")) {
            TransferClient client = TransferClient.create(vertx, Target.clientOptions("tcp", WINDOW));
            Target.Attached to = target.attach(client);
            MemoryRegion local = await(client.allocate(64, RegionOptions.local()));
            WriteStream<TransferElement> writes = to.connection().writes(DEFAULTS);
            for (int i = 0; i < 2 * WINDOW; i++) {
                assertThat(Bounded.failure(writes.write(new TransferElement(local, 1, to.remote(), 0, 64))))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            assertThat(writes.writeQueueFull()).isFalse();
            await(writes.write(new TransferElement(local, 0, to.remote(), 0, 64)));
            assertThat(Bounded.failure(writes.end())).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }
}
