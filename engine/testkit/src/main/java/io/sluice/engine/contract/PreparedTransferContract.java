package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferElement;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Prepared transfers: checked once, started many times. */
public interface PreparedTransferContract extends RestartContract {
    /** Starts its transfer again from its own callback, until it was started so often. */
    final class Restarting implements TransferCallback {
        private final int runs;
        private final AtomicInteger ended = new AtomicInteger();
        private final CompletableFuture<Void> done = new CompletableFuture<>();

        Restarting(int runs) {
            this.runs = runs;
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            if (error != null) {
                done.completeExceptionally(error);
            } else if (ended.incrementAndGet() == runs) {
                done.complete(null);
            } else {
                ((PreparedTransfer) transfer).start();
            }
        }

        int ended() {
            return ended.get();
        }

        CompletableFuture<Void> done() {
            return done;
        }
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void beforeTheFirstStartItIsAsAfterAnEnd(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            TerminalSignal signal = new TerminalSignal();
            PreparedTransfer prepared = kind.on(pair.connection().prepared(), local, remote, DEFAULTS, signal);
            assertThat(prepared.connection()).isSameAs(pair.connection());
            assertThat(prepared.isTerminated()).isTrue();
            await(prepared.quiesced());
            prepared.cancel();
            pair.notify(new byte[0]).awaitSuccess();
            Patience.pause(Duration.ofMillis(20));
            assertThat(signal.count()).isZero();
            assertThat(pair.connection().pending()).isZero();
            kind.assertNothingHappened(bytesOf(local), bytesOf(served));
            prepared.start();
            signal.awaitSuccess();
            kind.assertHappened(bytesOf(local), bytesOf(served));
            assertThat(signal.count()).isEqualTo(1);
            assertThat(signal.transfer()).isSameAs(prepared);
            assertThat(prepared.isTerminated()).isTrue();
            await(prepared.quiesced());
        }
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void everyKindRunsAgainAndAgain(TransferKind kind) {
        for (Ends ends : Ends.values()) {
            try (EnginePair pair = ends.open(transport())) {
                MemoryRegion local = pair.local(TransferKind.BYTES);
                MemoryRegion served = pair.served(TransferKind.BYTES);
                RemoteRegion remote = pair.attach(served);
                RunEnds runs = new RunEnds();
                PreparedTransfer prepared = kind.on(pair.connection().prepared(), local, remote, DEFAULTS, runs);
                for (int run = 0; run < 50; run++) {
                    TransferKind.reset(bytesOf(local), bytesOf(served));
                    prepared.start();
                    assertThat(runs.awaitSuccess().transfer()).isSameAs(prepared);
                    await(pair.connection().quiet());
                    kind.assertHappened(bytesOf(local), bytesOf(served));
                }
                until("nothing is pending", () -> pair.connection().pending() == 0);
                assertThat(runs.count()).isEqualTo(50);
                assertThat(pair.connection().window().operations()).isZero();
                assertThat(pair.connection().window().bytes()).isZero();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    default void startedThousandsOfTimesFromItsOwnCallback(Ends ends) {
        int runs = ContractProfile.of(transport()).chainedWritesToPeer() / 4;
        try (EnginePair pair = ends.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            MemoryRegion source = pair.local(64);
            Restarting restarting = new Restarting(runs);
            pair.connection()
                    .prepared()
                    .writeWithSignal(source, 0, remote, 8, 8, new RemoteSignal(remote, 0).weak(), DEFAULTS, restarting)
                    .start();
            Patience.awaitSteps("the runs", restarting.done(), restarting::ended);
            Patience.pause(Duration.ofMillis(20));
            assertThat(restarting.ended()).isEqualTo(runs);
            assertThat(served.signal(0).value()).isEqualTo(runs);
            until("nothing is pending", () -> pair.connection().pending() == 0);
        }
    }

    @Test
    default void manyPreparedTransfersRunAtOnce() {
        int transfers = 200;
        int runs = 50;
        try (EnginePair pair = EnginePair.open(
                transport(), both -> both.lanes(2).windowOperations(16).windowBytes(256 << 10))) {
            int slot = 20_000;
            MemoryRegion source = filled(pair.local((long) transfers * slot), 5);
            MemoryRegion served = pair.served(source.length());
            RemoteRegion remote = pair.attach(served);
            List<Restarting> all = new ArrayList<>();
            for (int i = 0; i < transfers; i++) {
                Restarting restarting = new Restarting(runs);
                all.add(restarting);
                long at = (long) i * slot;
                pair.connection()
                        .prepared()
                        .write(source, at, remote, at, slot, DEFAULTS, restarting)
                        .start();
            }
            all.forEach(restarting -> await(restarting.done()));
            assertThat(all)
                    .allSatisfy(restarting -> assertThat(restarting.ended()).isEqualTo(runs));
            await(pair.connection().quiet());
            BytePattern.assertFilled(bytesOf(served), 5);
        }
    }

    @Test
    default void bytesAreRightInEachRunWhereverItAims() {
        int bytes = 700_000;
        Random random = ContractProfile.random("bytesAreRightInEachRunWhereverItAims");
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.lanes(2).windowBytes(256 << 10))) {
            MemoryRegion local = pair.local(bytes);
            MemoryRegion served = pair.served(bytes);
            RemoteRegion remote = pair.attach(served);
            byte[] expected = new byte[bytes];
            RunEnds writes = new RunEnds();
            RunEnds reads = new RunEnds();
            PreparedTransfer write = pair.connection().prepared().write(local, 0, remote, 0, 1, DEFAULTS, writes);
            MemoryRegion back = pair.local(bytes);
            PreparedTransfer read = pair.connection().prepared().read(back, 0, remote, 0, 1, DEFAULTS, reads);
            for (int run = 0; run < 100; run++) {
                BytePattern.fill(bytesOf(local), run);
                int length = run % 10 == 0 ? random.nextInt(bytes + 1) : random.nextInt(5_000);
                int from = random.nextInt(bytes - length + 1);
                int to = random.nextInt(bytes - length + 1);
                assertThat(write.retarget(from, to, length)).isSameAs(write);
                write.start();
                writes.awaitSuccess();
                for (int i = 0; i < length; i++) {
                    expected[to + i] = BytePattern.at(run, from + i);
                }
                await(pair.connection().quiet());
                if (run % 10 == 0) {
                    BytePattern.assertSame(bytesOf(served), ContractBytes.of(expected));
                }
                bytesOf(back).fill((byte) 0);
                read.retarget(from, to, length).start();
                reads.awaitSuccess();
                BytePattern.assertFilled(bytesOf(back).slice(from, length), run, from);
                BytePattern.assertAll(bytesOf(back).slice(0, from), (byte) 0, "before the bytes read");
            }
            BytePattern.assertSame(bytesOf(served), ContractBytes.of(expected));
        }
    }

    @Test
    default void aimOutsideIsRefusedAndTheOldRangesAreKept() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = filled(pair.local(4096), 4);
            MemoryRegion served = pair.served(4096);
            RunEnds runs = new RunEnds();
            PreparedTransfer write =
                    pair.connection().prepared().write(local, 100, pair.attach(served), 200, 50, DEFAULTS, runs);
            for (long[] range : BoundsContract.OUTSIDE) {
                assertThatThrownBy(() -> write.retarget(range[0], 0, range[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> write.retarget(0, range[0], range[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            write.start();
            runs.awaitSuccess();
            BytePattern.assertAll(bytesOf(served).slice(0, 200), (byte) 0, "before the range");
            BytePattern.assertFilled(bytesOf(served).slice(200, 50), 4, 100);
            BytePattern.assertAll(bytesOf(served).slice(250), (byte) 0, "behind the range");
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    default void onlySingleReadsAndWritesAim(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(pair.served(TransferKind.BYTES));
            RunEnds runs = new RunEnds();
            PreparedTransfer prepared = kind.on(pair.connection().prepared(), local, remote, DEFAULTS, runs);
            assertThatThrownBy(() -> prepared.retarget(0, 0, 1)).isInstanceOf(UnsupportedOperationException.class);
            prepared.start();
            runs.awaitSuccess();
        }
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void startWhileItRunsIsRefused(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            RunEnds runs = new RunEnds();
            CompletableFuture<Void> event = new CompletableFuture<>();
            PreparedTransfer prepared = kind.on(
                    pair.connection().prepared(), local, remote, DEFAULTS.startAfter(StartEvent.of(event)), runs);
            prepared.start();
            assertThat(prepared.isTerminated()).isFalse();
            for (int i = 0; i < 10; i++) {
                assertThatThrownBy(prepared::start).isInstanceOf(IllegalStateException.class);
            }
            if (kind == TransferKind.WRITE || kind == TransferKind.READ) {
                assertThatThrownBy(() -> prepared.retarget(1, 1, 1)).isInstanceOf(IllegalStateException.class);
            }
            assertThat(pair.connection().pending()).isEqualTo(1);
            event.complete(null);
            runs.awaitSuccess();
            await(pair.connection().quiet());
            kind.assertHappened(bytesOf(local), bytesOf(served));
            prepared.start();
            runs.awaitSuccess();
            assertThat(runs.count()).isEqualTo(2);
            until("nothing is pending", () -> pair.connection().pending() == 0);
        }
    }

    @Test
    default void startsFromManyThreadsGiveOneRunEach() {
        int attempts = 2_000;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RunEnds runs = new RunEnds();
            PreparedTransfer prepared =
                    pair.connection().prepared().fetchAdd(pair.attach(served), 0, 1, DEFAULTS, runs);
            AtomicInteger started = new AtomicInteger();
            ManyThreads.run(8, number -> {
                for (int i = 0; i < attempts; i++) {
                    try {
                        prepared.start();
                        started.incrementAndGet();
                    } catch (IllegalStateException e) {
                        Thread.onSpinWait();
                    }
                }
            });
            assertThat(started).hasPositiveValue();
            for (int run = 0; run < started.get(); run++) {
                assertThat(runs.awaitSuccess().previous()).isEqualTo(run);
            }
            Patience.pause(Duration.ofMillis(50));
            assertThat(runs.count()).isEqualTo(started.get());
            assertThat(served.signal(0).value()).isEqualTo(started.get());
            until("nothing is pending", () -> pair.connection().pending() == 0);
        }
    }

    /** Counts each element's results over all runs. */
    final class ElementCounts implements VectoredTransferCallback {
        private final AtomicIntegerArray counts;
        private final AtomicInteger failed = new AtomicInteger();
        private final RunEnds runs = new RunEnds();

        ElementCounts(int elements) {
            counts = new AtomicIntegerArray(elements);
        }

        @Override
        public void element(int index, @Nullable SluiceException error) {
            counts.incrementAndGet(index);
            if (error != null) {
                failed.incrementAndGet();
            }
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            runs.terminated(transfer, error);
        }

        void assertEach(int times) {
            for (int i = 0; i < counts.length(); i++) {
                if (counts.get(i) != times) {
                    assertThat(counts.get(i)).as("results of element %d", i).isEqualTo(times);
                }
            }
            assertThat(failed).hasValue(0);
        }
    }

    @Test
    default void elementsHaveTheirResultsInEachRun() {
        int elements = 500;
        int bytes = 3_000;
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.lanes(2).windowOperations(16))) {
            MemoryRegion source = pair.local((long) elements * bytes);
            MemoryRegion served = pair.served(source.length());
            MemoryRegion back = pair.local(source.length());
            RemoteRegion remote = pair.attach(served);
            List<TransferElement> there = new ArrayList<>();
            List<TransferElement> home = new ArrayList<>();
            for (int i = 0; i < elements; i++) {
                long at = (long) i * bytes;
                there.add(new TransferElement(source, at, remote, at, bytes));
                home.add(new TransferElement(back, at, remote, at, bytes));
            }
            ElementCounts writes = new ElementCounts(elements);
            ElementCounts reads = new ElementCounts(elements);
            PreparedTransfer write = pair.connection().prepared().writeVectored(there, DEFAULTS, writes);
            PreparedTransfer read = pair.connection().prepared().readVectored(home, DEFAULTS, reads);
            // The lists were copied.
            there.clear();
            home.clear();
            for (int run = 1; run <= 20; run++) {
                BytePattern.fill(bytesOf(source), run);
                write.start();
                writes.runs.awaitSuccess();
                writes.assertEach(run);
                read.start();
                reads.runs.awaitSuccess();
                reads.assertEach(run);
                BytePattern.assertSame(bytesOf(back), bytesOf(source));
            }
        }
    }

    @Test
    default void strongSignalsRunAgainAndAgain() {
        int rounds = 300;
        int bytes = 64 << 10;
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.lanes(4).windowOperations(4))) {
            MemoryRegion source = pair.local(2L * bytes);
            MemoryRegion served = pair.served(2L * bytes);
            MemoryRegion counters = pair.served(8);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(pair.attach(counters), 0).strong();
            Signal signal = counters.signal(0);
            RunEnds writes = new RunEnds();
            RunEnds signals = new RunEnds();
            PreparedTransfer write = pair.connection().prepared().write(source, 0, remote, 0, bytes, DEFAULTS, writes);
            PreparedTransfer carrying = pair.connection()
                    .prepared()
                    .writeWithSignal(source, bytes, remote, bytes, bytes, update, DEFAULTS, signals);
            PreparedTransfer bare = pair.connection().prepared().signal(update, DEFAULTS, signals);
            for (int round = 1; round <= rounds; round++) {
                bytesOf(source).fill((byte) round);
                boolean whole = round % 2 == 0;
                long length = whole ? 2L * bytes : bytes;
                CompletableFuture<Void> checked = signal.awaitAtLeast(round)
                        .thenAccept(seen -> BytePattern.assertSame(
                                bytesOf(served).slice(0, length),
                                bytesOf(source).slice(0, length)));
                write.start();
                (whole ? carrying : bare).start();
                await(checked);
                writes.awaitSuccess();
                signals.awaitSuccess();
            }
            assertThat(signal.value()).isEqualTo(rounds);
        }
    }

    @Test
    default void atomicsFetchInEachRun() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            RunEnds adds = new RunEnds();
            RunEnds swaps = new RunEnds();
            PreparedTransfer add = pair.connection().prepared().fetchAdd(remote, 0, 3, DEFAULTS, adds);
            PreparedTransfer swap = pair.connection().prepared().compareAndSwap(remote, 8, 0, 9, DEFAULTS, swaps);
            for (int run = 0; run < 100; run++) {
                add.start();
                assertThat(adds.awaitSuccess().previous()).isEqualTo(3L * run);
                swap.start();
                assertThat(swaps.awaitSuccess().previous()).isEqualTo(run % 3 == 0 ? 0 : 9);
                if (run % 3 == 2) {
                    served.signal(8).set(0);
                }
            }
        }
    }

    @Test
    default void preparationChecksWhatSubmissionChecks() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            TerminalSignal never = new TerminalSignal();
            ElementSignals noElements = new ElementSignals(1);
            var prepared = pair.connection().prepared();
            assertThatThrownBy(() -> prepared.write(local, 1, remote, 0, 64, DEFAULTS, never))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> prepared.read(local, 0, remote, 1, 64, DEFAULTS, never))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> prepared.write(pair.served(64), 0, remote, 0, 64, DEFAULTS, never))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> prepared.writeVectored(List.of(), DEFAULTS, noElements))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> prepared.readVectored(
                            Arrays.asList(new TransferElement(local, 0, remote, 60, 8)), DEFAULTS, noElements))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(pair.connection().pending()).isZero();
        }
    }
}
