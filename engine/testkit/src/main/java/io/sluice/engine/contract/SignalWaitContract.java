package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalUpdate;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Waiting for a signal without a thread. */
interface SignalWaitContract extends Contract {
    Duration LONG_ENOUGH_TO_SEE = Duration.ofMillis(50);

    @Test
    default void waitForWhatIsThereAlready() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            Signal signal = allocate(engine, 64, RegionOptions.local()).signal(8);
            assertThat(signal.awaitAtLeast(0)).isCompletedWithValue(0L);
            assertThat(signal.awaitAtLeast(Long.MIN_VALUE)).isCompletedWithValue(0L);
            signal.set(41);
            assertThat(signal.awaitAtLeast(41)).isCompletedWithValue(41L);
            assertThat(signal.awaitAtLeast(-1)).isCompletedWithValue(41L);
            assertThat(signal.awaitAtLeast(42)).isNotDone();
        }
    }

    @Test
    default void ownUpdatesWakeWaiters() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            MemoryRegion region = allocate(engine, 64, RegionOptions.readWrite());
            Signal signal = region.signal(16);
            assertThat(signal.region()).isSameAs(region);
            assertThat(signal.offset()).isEqualTo(16);
            CompletableFuture<Long> five = signal.awaitAtLeast(5);
            assertThat(signal.add(4)).isZero();
            assertThat(five).isNotDone();
            assertThat(signal.add(3)).isEqualTo(4);
            assertThat(await(five)).isEqualTo(7);
            CompletableFuture<Long> hundred = signal.awaitAtLeast(100);
            signal.set(99);
            assertThat(hundred).isNotDone();
            signal.set(100);
            assertThat(await(hundred)).isEqualTo(100);
            signal.set(0);
            assertThat(signal.value()).isZero();
            assertThat(signal.add(-5)).isZero();
            CompletableFuture<Long> minusOne = signal.awaitAtLeast(-1);
            assertThat(signal.awaitAtLeast(-5)).isCompletedWithValue(-5L);
            assertThat(minusOne).isNotDone();
            assertThat(signal.add(4)).isEqualTo(-5);
            assertThat(await(minusOne)).isEqualTo(-1);
        }
    }

    @Test
    default void peersUpdatesWakeWaiters() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            MemoryRegion source = pair.local(64);
            RemoteRegion remote = pair.attach(served);
            SignalUpdate update = new RemoteSignal(remote, 8).weak();
            Signal signal = served.signal(8);
            CompletableFuture<Long> one = signal.awaitAtLeast(1);
            assertThat(one).isNotDone();
            pair.signal(update);
            assertThat(await(one)).isEqualTo(1);
            CompletableFuture<Long> two = signal.awaitAtLeast(2);
            pair.writeWithSignal(source, 0, remote, 16, 8, update);
            assertThat(await(two)).isEqualTo(2);
            CompletableFuture<Long> ten = signal.awaitAtLeast(10);
            pair.fetchAdd(remote, 8, 9);
            assertThat(await(ten)).isEqualTo(11);
            CompletableFuture<Long> twenty = signal.awaitAtLeast(20);
            pair.compareAndSwap(remote, 8, 12, 30).awaitPrevious();
            Patience.pause(LONG_ENOUGH_TO_SEE);
            assertThat(twenty).as("a swap that failed").isNotDone();
            pair.compareAndSwap(remote, 8, 11, 30);
            assertThat(await(twenty)).isEqualTo(30);
        }
    }

    @Test
    default void anUpdateJustBeforeThePeerGoesWakesWaiters() {
        for (int round = 0; round < 5; round++) {
            try (EnginePair pair = EnginePair.open(transport())) {
                MemoryRegion served = pair.served(64);
                SignalUpdate update = new RemoteSignal(pair.attach(served), 8).weak();
                CompletableFuture<Long> one = served.signal(8).awaitAtLeast(1);
                CompletableFuture<Void> gone = null;
                TerminalSignal signalled;
                // Where the update needs no target, the target then finds it and the end at the same time.
                try (Blockade blockade = Blockade.ofTarget(pair)) {
                    signalled = pair.signal(update);
                    Patience.pause(LONG_ENOUGH_TO_SEE);
                    if (signalled.ended()) {
                        gone = CompletableFuture.runAsync(pair.initiator()::close);
                        Patience.pause(LONG_ENOUGH_TO_SEE);
                    }
                }
                signalled.awaitSuccess();
                await(gone == null ? CompletableFuture.runAsync(pair.initiator()::close) : gone);
                assertThat(await(one)).isEqualTo(1);
            }
        }
    }

    @Test
    default void waitersWithDifferentThresholds() {
        int waiters = 1_000;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            SignalUpdate update = new RemoteSignal(pair.attach(served), 0).weak();
            Signal signal = served.signal(0);
            List<CompletableFuture<Long>> waits = new ArrayList<>();
            // In no order: the threshold of each is another number of 1 to the count of waiters.
            for (int i = 0; i < waiters; i++) {
                waits.add(signal.awaitAtLeast(threshold(i, waiters)));
            }
            for (int value = 1; value <= waiters; value++) {
                pair.signal(update).awaitSuccess();
                if (value % 100 == 0) {
                    int reached = value;
                    until(
                            "those that are reached are done",
                            () -> waits.stream()
                                            .filter(CompletableFuture::isDone)
                                            .count()
                                    == reached);
                }
            }
            for (int i = 0; i < waiters; i++) {
                long woken = await(waits.get(i));
                if (transport().carriesOutInTheCall() || !transport().memory().isHost()) {
                    // the target does not carry out the changes, and may see several as one
                    assertThat(woken).isBetween(threshold(i, waiters), (long) waiters);
                } else {
                    assertThat(woken).isEqualTo(threshold(i, waiters));
                }
            }
        }
    }

    private static long threshold(int waiter, int waiters) {
        return 1 + waiter * 7L % waiters;
    }

    @Test
    default void oneLargeUpdateWakesAll() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            RemoteRegion remote = pair.attach(served);
            List<CompletableFuture<Long>> waits = new ArrayList<>();
            for (int i = 1; i <= 100; i++) {
                waits.add(served.signal(0).awaitAtLeast(i));
            }
            CompletableFuture<Long> neighbour = served.signal(8).awaitAtLeast(1);
            pair.fetchAdd(remote, 0, 100);
            for (CompletableFuture<Long> wait : waits) {
                assertThat(await(wait)).isEqualTo(100);
            }
            assertThat(neighbour).as("a waiter for another word").isNotDone();
        }
    }

    @Test
    default void waiterMayWaitAgainAndUpdateWhenItIsWoken() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            SignalUpdate update = new RemoteSignal(pair.attach(served), 0).weak();
            Signal signal = served.signal(0);
            Signal other = served.signal(8);
            CompletableFuture<Long> third = signal.awaitAtLeast(1)
                    .thenCompose(seen -> signal.awaitAtLeast(2))
                    .thenCompose(seen -> {
                        other.add(1);
                        signal.add(1);
                        return signal.awaitAtLeast(3);
                    });
            CompletableFuture<Long> also = signal.awaitAtLeast(3);
            pair.signal(update).awaitSuccess();
            pair.signal(update).awaitSuccess();
            assertThat(await(third)).isEqualTo(3);
            assertThat(await(also)).isEqualTo(3);
            assertThat(await(other.awaitAtLeast(1))).isEqualTo(1);
        }
    }

    @Test
    default void waitsFromManyThreadsMissNoUpdate() {
        int rounds = 2 * ContractProfile.of(transport()).orderRounds();
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            MemoryRegion region = allocate(engine, 64, RegionOptions.local());
            // Each waits for the other's move: an update that slips in between look and wait would stop them.
            ManyThreads.run(2, number -> {
                Signal mine = region.signal(8L * number);
                Signal theirs = region.signal(8L * (1 - number));
                for (int round = 1; round <= rounds; round++) {
                    mine.add(1);
                    await(theirs.awaitAtLeast(round));
                }
            });
        }
    }

    @Test
    default void viewsOfTheSameCounter() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(4096);
            MemoryRegion slice = served.slice(1000, 2000).slice(24, 512);
            Signal whole = served.signal(1032);
            Signal part = slice.signal(8);
            assertThat(part.region()).isSameAs(slice);
            CompletableFuture<Long> atWhole = whole.awaitAtLeast(1);
            CompletableFuture<Long> atPart = part.awaitAtLeast(2);
            RemoteRegion remoteSlice = await(pair.connection().attach(slice.descriptor()));
            pair.signal(new RemoteSignal(remoteSlice, 8).weak()).awaitSuccess();
            assertThat(await(atWhole)).isEqualTo(1);
            assertThat(atPart).isNotDone();
            pair.signal(new RemoteSignal(pair.attach(served), 1032).weak()).awaitSuccess();
            assertThat(await(atPart)).isEqualTo(2);
            CompletableFuture<Long> again = whole.awaitAtLeast(3);
            part.add(1);
            assertThat(await(again)).isEqualTo(3);
            assertThat(served.signal(1032).value()).isEqualTo(3);
        }
    }

    @Test
    default void twoRegionsOverTheSameMemoryAreTwoSignals() {
        assumeHostMemory();
        // Memory that is registered twice makes two regions; waiters on one see only updates through it.
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.served(64);
            MemoryRegion twin = pair.target().register(served.segment(), RegionOptions.readWrite());
            CompletableFuture<Long> wait = twin.signal(0).awaitAtLeast(1);
            pair.signal(new RemoteSignal(pair.attach(twin), 0).weak());
            assertThat(await(wait)).isEqualTo(1);
            assertThat(served.signal(0).value()).isEqualTo(1);
            await(twin.close());
        }
    }

    @Test
    default void closingTheRegionEndsItsWaits() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion closing = pair.served(64);
            MemoryRegion staying = pair.served(64);
            Signal signal = closing.signal(0);
            Signal slice = closing.slice(8, 16).signal(8);
            List<CompletableFuture<Long>> waits = new ArrayList<>();
            for (int i = 1; i <= 100; i++) {
                waits.add(signal.awaitAtLeast(i));
                waits.add(slice.awaitAtLeast(i));
            }
            CompletableFuture<Long> other = staying.signal(0).awaitAtLeast(1);
            await(closing.close());
            for (CompletableFuture<Long> wait : waits) {
                failure(wait, RegionClosedException.class);
            }
            assertThat(other).isNotDone();
            failure(signal.awaitAtLeast(1), RegionClosedException.class);
            failure(signal.awaitAtLeast(0), RegionClosedException.class);
            assertThatThrownBy(signal::value).isInstanceOf(RegionClosedException.class);
            assertThatThrownBy(() -> signal.set(1)).isInstanceOf(RegionClosedException.class);
            assertThatThrownBy(() -> signal.add(1)).isInstanceOf(RegionClosedException.class);
            staying.signal(0).add(1);
            assertThat(await(other)).isEqualTo(1);
        }
    }

    @Test
    default void waitsThatRaceWithTheCloseEnd() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            for (int round = 0; round < 100; round++) {
                MemoryRegion region = allocate(engine, 64, RegionOptions.local());
                Signal signal = region.signal(0);
                ManyThreads.run(2, number -> {
                    if (number == 0) {
                        await(region.close());
                    } else {
                        for (int i = 0; i < 20; i++) {
                            failure(signal.awaitAtLeast(1), RegionClosedException.class);
                        }
                    }
                });
            }
        }
    }

    @Test
    default void closingTheEngineEndsItsWaits() {
        CompletableFuture<Long> wait;
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            wait = allocate(engine, 64, RegionOptions.local()).signal(0).awaitAtLeast(1);
        }
        failure(wait, RegionClosedException.class);
    }

    @Test
    default void cancelledWaitsAreGone() {
        int waits = 10_000;
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            Signal signal = allocate(engine, 64, RegionOptions.local()).signal(0);
            CompletableFuture<Long> staying = signal.awaitAtLeast(7);
            List<WeakReference<CompletableFuture<Long>>> cancelled = new ArrayList<>();
            for (int i = 0; i < waits; i++) {
                CompletableFuture<Long> wait = signal.awaitAtLeast(5 + i % 5);
                if (i % 2 == 0) {
                    wait.cancel(false);
                } else {
                    wait.completeExceptionally(new TimeoutException());
                }
                cancelled.add(new WeakReference<>(wait));
            }
            until("nothing holds them", () -> {
                System.gc();
                // A last one may still be in a register or a frame of this thread.
                return cancelled.stream().filter(wait -> wait.get() != null).count() < waits / 100;
            });
            signal.set(10);
            assertThat(await(staying)).isEqualTo(10);
        }
    }

    @Test
    default void waitThatTimesOutLeavesTheOthersAlone() {
        try (TransferEngine engine = TransferEngine.open(transport().options().build())) {
            Signal signal = allocate(engine, 64, RegionOptions.local()).signal(0);
            CompletableFuture<Long> brief = signal.awaitAtLeast(5).orTimeout(20, TimeUnit.MILLISECONDS);
            CompletableFuture<Long> patient = signal.awaitAtLeast(5);
            until("it timed out", brief::isCompletedExceptionally);
            assertThat(patient).isNotDone();
            signal.set(5);
            assertThat(await(patient)).isEqualTo(5);
        }
    }
}
