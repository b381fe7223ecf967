package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.RemoteSignal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** Starts of a prepared transfer after a run that was cancelled, timed out or failed, and as its connection ends. */
interface RestartContract extends Contract {
    TransferOptions DEFAULTS = TransferOptions.defaults();

    @Test
    default void cancelledRunIsStartedAgainOnlyOnceItIsQuiescent() {
        // More bytes than sockets buffer, so that some stay unsent while the target does not receive.
        long bytes = WhilePosted.BYTES;
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion source = filled(pair.local(bytes), 3);
            MemoryRegion served = pair.served(bytes);
            RemoteRegion remote = pair.attach(served);
            RunEnds runs = new RunEnds();
            AtomicInteger refusals = new AtomicInteger();
            // what it finds does not change meanwhile: it has the poller
            TransferCallback callback = (transfer, error) -> {
                PreparedTransfer run = (PreparedTransfer) transfer;
                if (error != null
                        && !run.quiesced().isDone()
                        && isRefused(run::start)
                        && isRefused(() -> run.retarget(0, 0, 8))) {
                    refusals.incrementAndGet();
                }
                runs.terminated(transfer, error);
            };
            PreparedTransfer prepared =
                    pair.connection().prepared().write(source, 0, remote, 0, bytes, DEFAULTS, callback);
            try (Blockade blockade = Blockade.ofTarget(pair)) {
                if (transport().needsTargetToRun()) {
                    prepared.start();
                    until("it is posted", () -> pair.connection().window().bytes() > 16 << 20);
                    prepared.cancel();
                    prepared.cancel();
                    runs.awaitFailure(TransferCancelledException.class);
                    assertThat(prepared.isTerminated()).isTrue();
                    assertThat(prepared.quiesced()).isNotDone();
                    assertThatThrownBy(prepared::start).isInstanceOf(IllegalStateException.class);
                    assertThatThrownBy(() -> prepared.retarget(0, 0, 8)).isInstanceOf(IllegalStateException.class);
                } else {
                    for (int round = 0; refusals.get() == 0 && round < WhilePosted.MOST_ROUNDS; round++) {
                        await(WhilePosted.act(
                                transport(), pair.connection(), source, remote, prepared::start, prepared::cancel));
                        runs.await()
                                .error()
                                .ifPresent(error -> assertThat(error).isInstanceOf(TransferCancelledException.class));
                        // the target, which does nothing, holds nothing up
                        await(prepared.quiesced());
                    }
                }
            }
            assertThat(refusals).as("starts of a run with something posted").hasValue(1);
            await(prepared.quiesced());
            bytesOf(served).fill((byte) 0);
            int ended = runs.count();
            prepared.start();
            runs.awaitSuccess();
            assertThat(runs.count()).isEqualTo(ended + 1);
            await(pair.connection().quiet());
            BytePattern.assertFilled(bytesOf(served), 3);
        }
    }

    private static boolean isRefused(Runnable action) {
        try {
            action.run();
            return false;
        } catch (IllegalStateException refused) {
            return true;
        }
    }

    @Test
    default void cancelledAndStartedAgainManyTimes() {
        Random random = ContractProfile.random("cancelledAndStartedAgainManyTimes");
        // at the speed of memory a cancel would come too late for fewer
        int bytes = transport().carriesOutInTheCall() ? 16 << 20 : 1 << 20;
        try (EnginePair pair =
                EnginePair.open(transport(), both -> both.windowOperations(4).windowBytes(256 << 10))) {
            MemoryRegion source = pair.local(bytes);
            MemoryRegion served = pair.served(bytes);
            RemoteRegion remote = pair.attach(served);
            RunEnds runs = new RunEnds();
            PreparedTransfer prepared = pair.connection().prepared().write(source, 0, remote, 0, bytes, DEFAULTS, runs);
            int cancelled = 0;
            for (int run = 0; run < 200; run++) {
                bytesOf(source).fill((byte) (run + 1));
                prepared.start();
                int when = random.nextInt(3);
                if (when > 0) {
                    // some at once, as each pause may last until the run has ended
                    if (when > 1) {
                        Patience.pause(Duration.ofNanos(random.nextInt(300_000)));
                    }
                    prepared.cancel();
                }
                if (runs.await().error().isPresent()) {
                    cancelled++;
                    await(prepared.quiesced());
                } else {
                    await(pair.connection().quiet());
                    BytePattern.assertAll(bytesOf(served), (byte) (run + 1), "the target of run " + run);
                }
            }
            assertThat(cancelled).isBetween(1, 199);
            assertThat(runs.count()).isEqualTo(200);
            until(
                    "the credits are back",
                    () -> pair.connection().window().operations() == 0
                            && pair.connection().window().bytes() == 0
                            && pair.connection().pending() == 0);
        }
    }

    @Test
    default void deadlineIsCountedFromEachStart() {
        Duration deadline = Patience.scaled(Duration.ofMillis(300));
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion served = pair.servedByTheTarget(64);
            RemoteRegion remote = pair.attach(served);
            RunEnds runs = new RunEnds();
            PreparedTransfer prepared = pair.connection()
                    .prepared()
                    .signal(new RemoteSignal(remote, 0).weak(), DEFAULTS.withDeadline(deadline), runs);
            // the target's processors have to carry it out, on every transport
            try (Blockade blockade = Blockade.ofTarget(pair)) {
                long started = System.nanoTime();
                prepared.start();
                runs.awaitFailure(TransferTimeoutException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - started)).isGreaterThan(deadline.minusMillis(50));
            }
            await(prepared.quiesced());
            // Long after the deadline of the first run. On a busy machine a run may miss its own deadline.
            until("a run ends before its deadline", () -> {
                prepared.start();
                Optional<SluiceException> error = runs.await().error();
                error.ifPresent(each -> assertThat(each).isInstanceOf(TransferTimeoutException.class));
                await(prepared.quiesced());
                return error.isEmpty();
            });
        }
    }

    @Test
    default void deadlineOfARunDoesNotEndALaterOne() {
        Duration deadline = Patience.scaled(Duration.ofMillis(300));
        try (EnginePair pair = EnginePair.open(transport())) {
            RemoteRegion remote = pair.attach(pair.served(64));
            until("no run is held up for its own deadline", () -> outlastsTheFirstDeadline(pair, remote, deadline));
        }
    }

    /** One run after the other for longer than a deadline. False if one has reached its own: the machine is busy. */
    private static boolean outlastsTheFirstDeadline(EnginePair pair, RemoteRegion remote, Duration deadline) {
        AtomicLong started = new AtomicLong(System.nanoTime());
        long stop = started.get() + deadline.plusMillis(100).toNanos();
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        pair.connection()
                .prepared()
                .put(remote, 0, 1, 1, DEFAULTS.withDeadline(deadline), (transfer, error) -> {
                    long now = System.nanoTime();
                    if (error instanceof TransferTimeoutException && now - started.get() >= deadline.toNanos()) {
                        done.complete(false);
                    } else if (error != null) {
                        done.completeExceptionally(error);
                    } else if (now > stop) {
                        done.complete(true);
                    } else {
                        started.set(now);
                        ((PreparedTransfer) transfer).start();
                    }
                })
                .start();
        return await(done);
    }

    @Test
    default void failedRunCanBeStartedAgain() {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(64);
            MemoryRegion closing = pair.served(64);
            RunEnds runs = new RunEnds();
            PreparedTransfer prepared =
                    pair.connection().prepared().write(local, 0, pair.attach(closing), 0, 64, DEFAULTS, runs);
            prepared.start();
            runs.awaitSuccess();
            await(closing.close());
            for (int i = 0; i < 20; i++) {
                await(prepared.quiesced());
                prepared.start();
                runs.awaitFailure(RemoteAccessException.class);
            }
            await(prepared.quiesced());
            await(local.close());
            prepared.start();
            runs.awaitFailure(RegionClosedException.class);
        }
    }

    @Test
    default void startThatFindsTooManyPendingCanBeTriedAgain() {
        try (EnginePair pair = EnginePair.open(transport(), both -> both.maxPending(2))) {
            MemoryRegion local = pair.local(64);
            RemoteRegion remote = pair.attach(pair.served(64));
            CompletableFuture<Void> event = new CompletableFuture<>();
            TransferOptions later = DEFAULTS.startAfter(StartEvent.of(event));
            List<TerminalSignal> holders =
                    List.of(pair.write(local, 0, remote, 0, 8, later), pair.write(local, 0, remote, 0, 8, later));
            RunEnds runs = new RunEnds();
            PreparedTransfer prepared = pair.connection().prepared().put(remote, 0, 1, 1, DEFAULTS, runs);
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(prepared::start).isInstanceOf(TooManyPendingException.class);
                assertThat(prepared.isTerminated()).isTrue();
            }
            event.complete(null);
            TerminalSignal.awaitAllSuccess(holders);
            until("there is room", () -> pair.connection().pending() == 0);
            prepared.start();
            runs.awaitSuccess();
            assertThat(runs.count()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ArgumentsSource(KindsInTurn.class)
    default void endedConnectionStartsNothing(TransferKind kind) {
        try (EnginePair pair = EnginePair.open(transport())) {
            MemoryRegion local = pair.local(TransferKind.BYTES);
            MemoryRegion served = pair.served(TransferKind.BYTES);
            RemoteRegion remote = pair.attach(served);
            TransferKind.reset(bytesOf(local), bytesOf(served));
            RunEnds idleRuns = new RunEnds();
            RunEnds waitingRuns = new RunEnds();
            PreparedTransfer idle = kind.on(pair.connection().prepared(), local, remote, DEFAULTS, idleRuns);
            PreparedTransfer waiting = kind.on(
                    pair.connection().prepared(), local, remote, DEFAULTS.startAfter(listener -> {}), waitingRuns);
            waiting.start();
            await(pair.connection().close());
            waitingRuns.awaitFailure(ConnectionLostException.class);
            for (PreparedTransfer prepared : List.of(idle, waiting)) {
                await(prepared.quiesced());
                assertThatThrownBy(prepared::start).isInstanceOf(ConnectionLostException.class);
                assertThatThrownBy(prepared::start).isInstanceOf(ConnectionLostException.class);
                assertThat(prepared.isTerminated()).isTrue();
                prepared.cancel();
            }
            Patience.pause(Duration.ofMillis(20));
            assertThat(idleRuns.count()).isZero();
            assertThat(waitingRuns.count()).isEqualTo(1);
            kind.assertNothingHappened(bytesOf(local), bytesOf(served));
        }
    }

    @Test
    default void connectionEndsWhileItIsStartedAgainAndAgain() {
        for (int round = 0; round < 20; round++) {
            try (EnginePair pair = EnginePair.open(transport())) {
                RemoteRegion remote = pair.attach(pair.served(64));
                RunEnds runs = new RunEnds();
                PreparedTransfer prepared =
                        pair.connection().prepared().write(pair.local(64), 0, remote, 0, 64, DEFAULTS, runs);
                AtomicInteger started = new AtomicInteger();
                CompletableFuture<Void> flowing = new CompletableFuture<>();
                Thread starter = Thread.ofPlatform().start(() -> {
                    try {
                        while (true) {
                            prepared.start();
                            started.incrementAndGet();
                            if (runs.await().error().isPresent()) {
                                await(prepared.quiesced());
                            }
                            if (started.get() == 20) {
                                flowing.complete(null);
                            }
                        }
                    } catch (ConnectionLostException e) {
                        flowing.complete(null);
                    } catch (RuntimeException | Error e) {
                        flowing.completeExceptionally(e);
                    }
                });
                await(flowing);
                await(pair.connection().close());
                until("the starting thread has ended", () -> !starter.isAlive());
                await(flowing);
                assertThat(runs.count()).isEqualTo(started.get());
            }
        }
    }
}
