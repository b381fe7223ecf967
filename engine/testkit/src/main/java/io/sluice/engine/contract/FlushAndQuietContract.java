package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.StartEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Flush: the sources may be used again. Quiet: all that was written before is visible at the target. */
interface FlushAndQuietContract extends Contract {
    Duration LONG_ENOUGH_TO_SEE = Duration.ofMillis(50);

    /** The two of them, for what holds of both. */
    enum Fence {
        FLUSH,
        QUIET;

        CompletableFuture<Void> of(Connection connection) {
            return this == FLUSH ? connection.flush() : connection.quiet();
        }
    }

    @ParameterizedTest
    @EnumSource
    default void nothingToWaitFor(Fence fence) {
        for (Ends ends : Ends.values()) {
            try (EnginePair pair = ends.open(transport())) {
                for (int i = 0; i < 100; i++) {
                    await(fence.of(pair.connection()));
                    await(fence.of(pair.accepted()));
                }
                MemoryRegion local = pair.local(64);
                pair.write(local, 0, pair.attach(pair.served(64)), 0, 64).awaitSuccess();
                await(fence.of(pair.connection()));
            }
        }
    }

    @Test
    default void sourcesMayBeUsedAgainAfterAFlush() {
        int slots = 40;
        int slot = 300 << 10;
        Random random = ContractProfile.random("sourcesMayBeUsedAgainAfterAFlush");
        try (EnginePair pair = EnginePair.open(
                transport(), both -> both.lanes(2).windowBytes(256 << 10).windowOperations(4))) {
            MemoryRegion source = pair.local((long) slots * slot);
            MemoryRegion served = pair.served(source.length());
            RemoteRegion remote = pair.attach(served);
            byte canary = (byte) 0xA5;
            List<TerminalSignal> all = new ArrayList<>();
            for (int round = 0; round < 8; round++) {
                byte content = (byte) (1 + round);
                bytesOf(source).fill(content);
                List<TerminalSignal> signals = new ArrayList<>();
                List<Transfer> transfers = new ArrayList<>();
                for (int i = 0; i < slots; i++) {
                    TerminalSignal signal = new TerminalSignal();
                    signals.add(signal);
                    long at = (long) i * slot;
                    transfers.add(
                            pair.connection().write(source, at, remote, at, slot, TransferOptions.defaults(), signal));
                    if (random.nextInt(4) == 0) {
                        transfers.get(random.nextInt(transfers.size())).cancel();
                    }
                }
                CompletableFuture<Void> flushed = pair.connection().flush().thenRun(() -> {
                    bytesOf(source).fill(canary);
                    assertThat(TerminalSignal.ended(signals)).as("ended writes").isEqualTo(slots);
                });
                await(flushed);
                all.addAll(signals);
                await(pair.connection().quiesced());
                await(pair.connection().quiet());
                for (int i = 0; i < slots; i++) {
                    var target = bytesOf(served).slice((long) i * slot, slot);
                    if (signals.get(i).await().isEmpty()) {
                        BytePattern.assertAll(target, content, "a target whose source was changed after the flush");
                    } else {
                        assertNone(target, canary);
                    }
                }
            }
            TerminalSignal.awaitAllOnce(all);
        }
    }

    private static void assertNone(ContractBytes bytes, byte unwanted) {
        MemorySegment contents = bytes.contents();
        for (long at = 0; at < contents.byteSize(); at++) {
            if (contents.get(ValueLayout.JAVA_BYTE, at) == unwanted) {
                assertThat(at).as("a byte from after the flush").isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void chunksOfACancelledWriteAreWaitedFor(Fence fence) {
        // More than sockets hold.
        long bytes = WhilePosted.BYTES;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(bytes);
            MemoryRegion served = pair.served(bytes);
            RemoteRegion remote = pair.attach(served);
            if (transport().needsTargetToRun()) {
                CompletableFuture<Void> fenced;
                try (Blockade blockade = Blockade.ofTarget(pair)) {
                    TerminalSignal signal = new TerminalSignal();
                    Transfer transfer =
                            pair.connection().write(source, 0, remote, 0, bytes, TransferOptions.defaults(), signal);
                    until("it is posted", () -> pair.connection().window().bytes() > 16 << 20);
                    transfer.cancel();
                    signal.awaitFailure(TransferCancelledException.class);
                    fenced = fence.of(pair.connection())
                            .thenRun(() -> bytesOf(source).fill((byte) 9));
                    Patience.pause(LONG_ENOUGH_TO_SEE);
                    assertThat(fenced).isNotDone();
                }
                await(fenced);
            } else {
                // the target, which does nothing, holds nothing up
                try (Blockade blockade = Blockade.ofTarget(pair)) {
                    boolean posted = false;
                    for (int round = 0; !posted && round < WhilePosted.MOST_ROUNDS; round++) {
                        bytesOf(source).fill((byte) 0);
                        posted = isFencedWhilePosted(pair, fence, source, remote);
                    }
                    assertThat(posted).as("a cancel has found the write posted").isTrue();
                }
            }
            Patience.pause(Duration.ofMillis(50));
            BytePattern.assertAll(bytesOf(served), (byte) 0, "the target of zeros");
        }
    }

    /** Fences a write as it is cancelled, and spoils its source behind the fence; false if nothing was posted then. */
    private boolean isFencedWhilePosted(EnginePair pair, Fence fence, MemoryRegion source, RemoteRegion remote) {
        AtomicReference<Transfer> large = new AtomicReference<>();
        AtomicBoolean posted = new AtomicBoolean();
        CompletableFuture<CompletableFuture<Void>> fenced = new CompletableFuture<>();
        await(WhilePosted.act(
                transport(),
                pair.connection(),
                source,
                remote,
                () -> large.set(pair.connection()
                        .write(
                                source,
                                0,
                                remote,
                                0,
                                WhilePosted.BYTES,
                                TransferOptions.defaults(),
                                (transfer, error) -> {
                                    posted.set(error instanceof TransferCancelledException
                                            && !transfer.quiesced().isDone());
                                    // what is posted is so still: the poller has looked at nothing else
                                    fenced.complete(fence.of(pair.connection()).thenRun(() -> {
                                        assertThat(transfer.quiesced()).isDone();
                                        bytesOf(source).fill((byte) 9);
                                    }));
                                })),
                () -> large.get().cancel()));
        await(await(fenced));
        return posted.get();
    }

    @ParameterizedTest
    @EnumSource
    default void earlierWritesAreVisibleOnceQuiet(Ends ends) {
        long bytes = 8 << 20;
        try (EnginePair pair = ends.open(
                transport(), both -> both.lanes(4).windowBytes(512 << 10).windowOperations(4))) {
            MemoryRegion source = pair.local(bytes);
            MemoryRegion served = pair.served(bytes);
            RemoteRegion remote = pair.attach(served);
            for (int round = 0; round < 10; round++) {
                BytePattern.fill(bytesOf(source), round);
                for (long at = 0; at < bytes; at += 1 << 20) {
                    pair.write(source, at, remote, at, 1 << 20);
                }
                await(pair.connection()
                        .quiet()
                        .thenRun(() -> BytePattern.assertSame(bytesOf(served), bytesOf(source))));
            }
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void quietMeansVisibleInAnotherProcess() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        long bytes = 4 << 20;
        try (PeerProcess peer = PeerProcess.start(transport(), bytes);
                TransferEngine engine =
                        TransferEngine.open(transport().options().lanes(2).build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion source = allocate(engine, bytes, RegionOptions.local());
            for (int round = 0; round < 10; round++) {
                BytePattern.fill(bytesOf(source), round);
                for (long at = 0; at < bytes; at += 256 << 10) {
                    connection.write(
                            source, at, remote, at, 256 << 10, TransferOptions.defaults(), new TerminalSignal());
                }
                await(connection.quiet());
                assertThat(peer.checksum(0, 0, bytes)).isEqualTo(BytePattern.checksum(bytesOf(source)));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.MATCH_NONE, names = "READ.*")
    default void whatHasNotStartedIsWaitedFor(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            CompletableFuture<Void> event = new CompletableFuture<>();
            TerminalSignal signal = new TerminalSignal();
            kind.on(
                    pair.connection(),
                    local,
                    remote,
                    TransferOptions.defaults().startAfter(StartEvent.of(event)),
                    signal);
            CompletableFuture<Void> flushed = pair.connection()
                    .flush()
                    .thenRun(() -> assertThat(signal.ended()).isTrue());
            CompletableFuture<Void> quiet =
                    pair.connection().quiet().thenRun(() -> kind.assertHappened(bytesOf(local), bytesOf(served)));
            Patience.pause(Duration.ofMillis(50));
            assertThat(flushed).isNotDone();
            assertThat(quiet).isNotDone();
            event.complete(null);
            await(flushed);
            await(quiet);
            signal.awaitSuccess();
        }
    }

    @Test
    default void batchesAndPreparedTransfersAreWaitedFor() {
        int bytes = 2 << 20;
        try (EnginePair pair = EnginePair.open(transport(), both -> both.windowBytes(256 << 10))) {
            MemoryRegion source = filled(pair.local(2L * bytes), 4);
            MemoryRegion served = pair.served(2L * bytes);
            RemoteRegion remote = pair.attach(served);
            pair.initiator()
                    .writeVectored(
                            List.of(new TransferElement(source, 0, remote, 0, bytes)),
                            TransferOptions.defaults(),
                            new ElementSignals(1));
            pair.connection()
                    .prepared()
                    .write(source, bytes, remote, bytes, bytes, TransferOptions.defaults(), new TerminalSignal())
                    .start();
            await(pair.connection().quiet().thenRun(() -> BytePattern.assertFilled(bytesOf(served), 4)));
        }
    }

    @ParameterizedTest
    @EnumSource
    default void laterTransfersDoNotDelayTheFence(Fence fence) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            CompletableFuture<Void> event = new CompletableFuture<>();
            TerminalSignal before = pair.write(
                    source, 0, remote, 0, 8, TransferOptions.defaults().startAfter(StartEvent.of(event)));
            CompletableFuture<Void> fenced = fence.of(pair.connection());
            TerminalSignal later = pair.write(
                    source, 0, remote, 8, 8, TransferOptions.defaults().startAfter(listener -> {}));
            CompletableFuture<Void> behind = fence.of(pair.connection());
            event.complete(null);
            await(fenced);
            before.awaitSuccess();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(later.ended()).isFalse();
            assertThat(behind).isNotDone();
        }
    }

    @ParameterizedTest
    @EnumSource
    default void readsDoNotDelayTheFence(Fence fence) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion sink = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            TerminalSignal read = new TerminalSignal();
            pair.connection()
                    .read(sink, 0, remote, 0, 64, TransferOptions.defaults().startAfter(listener -> {}), read);
            pair.write(sink, 0, remote, 0, 64);
            await(fence.of(pair.connection()));
            assertThat(read.ended()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    default void notificationsWithoutACreditDoNotDelayTheFence(Fence fence) {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.notificationCredits(1))) {
            MemoryRegion source = filled(pair.local(64), 8);
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            // No listener requests them.
            List<TerminalSignal> notified = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                notified.add(pair.notify(new byte[] {1}));
                pair.write(source, 0, remote, 0, 64);
            }
            await(fence.of(pair.connection()));
            assertThat(TerminalSignal.ended(notified)).isLessThan(5);
            await(pair.connection().quiet());
            BytePattern.assertFilled(bytesOf(served), 8);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void failedTransfersDoNotDelayTheFence(Fence fence) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(1 << 20);
            MemoryRegion closing = pair.served(1 << 20);
            RemoteRegion gone = pair.attach(closing);
            RemoteRegion there = pair.attach(pair.served(1 << 20));
            await(closing.close());
            for (int round = 0; round < 50; round++) {
                TerminalSignal refused = pair.write(source, 0, gone, 0, 1 << 20);
                TerminalSignal cancelled = new TerminalSignal();
                TransferOptions never = TransferOptions.defaults().startAfter(listener -> {});
                Transfer transfer = pair.connection().write(source, 0, there, 0, 8, never, cancelled);
                CompletableFuture<Void> fenced = fence.of(pair.connection());
                transfer.cancel();
                await(fenced);
                refused.awaitFailure(RemoteAccessException.class);
                cancelled.awaitFailure(TransferCancelledException.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void manyAreOutstandingAndEachWaitsForItsOwn(Fence fence) {
        int count = ContractProfile.of(transport()).orderRounds();
        int bytes = 4096;
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.lanes(4).windowOperations(8))) {
            MemoryRegion source = filled(pair.local(bytes), 8);
            MemoryRegion served = pair.served((long) count * bytes);
            RemoteRegion remote = pair.attach(served);
            List<CompletableFuture<Void>> fences = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long at = (long) i * bytes;
                TerminalSignal signal = pair.write(source, 0, remote, at, bytes);
                fences.add(fence.of(pair.connection()).thenRun(() -> {
                    if (fence == Fence.FLUSH) {
                        assertThat(signal.ended()).isTrue();
                    } else {
                        BytePattern.assertSame(bytesOf(served).slice(at, bytes), bytesOf(source));
                    }
                }));
            }
            fences.forEach(Patience::await);
        }
    }

    @ParameterizedTest
    @EnumSource
    default void fencesFromManyThreadsAndFromTheirOwnEnds(Fence fence) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            ManyThreads.run(4, number -> {
                CompletableFuture<Void> chain = CompletableFuture.completedFuture(null);
                for (int i = 0; i < 200; i++) {
                    chain = chain.thenCompose(done -> {
                        pair.write(source, 0, remote, 8L * number, 8);
                        return fence.of(pair.connection());
                    });
                }
                await(chain);
            });
        }
    }

    @Test
    default void endedConnectionIsFlushedAndNotQuiet() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            TerminalSignal waiting = pair.write(
                    source, 0, remote, 0, 8, TransferOptions.defaults().startAfter(listener -> {}));
            CompletableFuture<Void> flushed = pair.connection()
                    .flush()
                    .thenRun(() -> assertThat(waiting.ended()).isTrue());
            CompletableFuture<Void> quiet = pair.connection().quiet();
            await(pair.connection().close());
            await(flushed);
            failure(quiet, ConnectionLostException.class);
            await(pair.connection().flush());
            failure(pair.connection().quiet(), ConnectionLostException.class);
            until(
                    "the other side sees the end",
                    () -> pair.target().connections().isEmpty());
            await(pair.accepted().flush());
            failure(pair.accepted().quiet(), ConnectionLostException.class);
        }
    }

    @Test
    @Tag(DRIVER)
    @Tag(PROCESS)
    default void lostConnectionIsFlushedAndNotQuiet() {
        assumeTrue(transport().crossesProcesses(), ONE_PROCESS);
        TerminalSignalContract.untilHeardOf(this::freezeBeforeFences);
    }

    private void freezeBeforeFences() {
        // more than sockets hold, or more than a calling thread carries out
        long bytes = transport().needsTargetToRun() ? 32 << 20 : 128 << 10;
        int count = 20;
        try (PeerProcess peer = PeerProcess.start(transport(), bytes);
                TransferEngine engine = TransferEngine.open(transport()
                        .options()
                        .livenessTimeout(TerminalSignalContract.LIVENESS)
                        .build())) {
            Connection connection = await(engine.connect(peer.address()));
            RemoteRegion remote = await(connection.attach(peer.region(0)));
            MemoryRegion source = allocate(engine, bytes, RegionOptions.local());
            peer.freeze();
            List<TerminalSignal> signals = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                TerminalSignal signal = new TerminalSignal();
                signals.add(signal);
                connection.write(source, 0, remote, 0, bytes, TransferOptions.defaults(), signal);
            }
            if (!transport().needsTargetToRun()) {
                TerminalSignal.awaitAllSuccess(signals);
                // so it waits for nothing, though the peer is frozen
                await(connection.flush());
                await(connection.quiet());
            }
            // holds both up on every transport
            TerminalSignal waiting = new TerminalSignal();
            connection.write(source, 0, remote, 0, 8, TransferOptions.defaults().startAfter(listener -> {}), waiting);
            signals.add(waiting);
            CompletableFuture<Void> flushed = connection
                    .flush()
                    .thenRun(() -> assertThat(TerminalSignal.ended(signals)).isEqualTo(count + 1));
            CompletableFuture<Void> quiet = connection.quiet();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            boolean early = flushed.isDone() || quiet.isDone();
            // this thread may have been held up until the connection was lost, which ends both
            if (connection.state() == ConnectionState.OPEN) {
                assertThat(early).as("one was done before the loss").isFalse();
            }
            failure(connection.ended(), ConnectionLostException.class);
            failure(quiet, ConnectionLostException.class);
            await(flushed);
            waiting.awaitFailure(ConnectionLostException.class);
            TerminalSignal.awaitAllOnce(signals);
        }
    }
}
