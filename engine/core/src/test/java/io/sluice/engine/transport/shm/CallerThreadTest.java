package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransportMetrics;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Small writes and reads are carried out in the calling thread. */
class CallerThreadTest {
    private static final TransferOptions NO_DEADLINE = TransferOptions.defaults();
    private static final long MOST = 64 << 10;
    private static final long REGION = 4 << 20;

    private static Thread threadOfCallback(ShmPair pair, boolean writes, long bytes) {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        TransferCallback callback = (transfer, error) -> {
            if (error == null) {
                thread.complete(Thread.currentThread());
            } else {
                thread.completeExceptionally(error);
            }
        };
        if (writes) {
            pair.connection().write(pair.local(), 0, pair.remote(), 0, bytes, NO_DEADLINE, callback);
        } else {
            pair.connection().read(pair.local(), 0, pair.remote(), 0, bytes, NO_DEADLINE, callback);
        }
        Thread returned = thread.getNow(null);
        Thread seen = Patience.await(thread);
        if (seen == Thread.currentThread()) {
            assertThat(returned).as("called inside the call").isSameAs(seen);
        }
        return seen;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callbackComesInTheCallUpToTheLimitAndOnAPollerBeyond(boolean writes) {
        try (ShmPair pair = ShmPair.open(REGION)) {
            for (long bytes : new long[] {1, 8, 4096, MOST - 1, MOST}) {
                assertThat(threadOfCallback(pair, writes, bytes))
                        .as("%d bytes", bytes)
                        .isSameAs(Thread.currentThread());
            }
            assertThat(threadOfCallback(pair, writes, MOST + 1))
                    .satisfies(thread ->
                            assertThat(TransferEngine.isPollerThread(thread)).isTrue());
            pair.assertNothingInFlight();
        }
    }

    @Test
    void withoutALimitCallbacksComeOnPollers() {
        try (ShmPair pair = ShmPair.open(ShmOptions.builder().callerThreadBytes(0), REGION, options -> {})) {
            for (long bytes : new long[] {1, 64, MOST, MOST + 1}) {
                assertThat(TransferEngine.isPollerThread(threadOfCallback(pair, true, bytes)))
                        .as("a write of %d bytes", bytes)
                        .isTrue();
                assertThat(TransferEngine.isPollerThread(threadOfCallback(pair, false, bytes)))
                        .as("a read of %d bytes", bytes)
                        .isTrue();
            }
        }
    }

    @Test
    void bytesAreThereWhenTheCallReturns() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            for (long value = 1; value <= 10_000; value++) {
                pair.local().segment().set(ValueLayout.JAVA_LONG, 0, value);
                pair.connection().write(pair.local(), 0, pair.remote(), 8, 8, NO_DEADLINE, (transfer, error) -> {});
                assertThat(pair.region().segment().get(ValueLayout.JAVA_LONG, 8))
                        .isEqualTo(value);
                pair.connection().read(pair.local(), 16, pair.remote(), 8, 8, NO_DEADLINE, (transfer, error) -> {});
                assertThat(pair.local().segment().get(ValueLayout.JAVA_LONG, 16))
                        .isEqualTo(value);
            }
        }
    }

    @Test
    void metricsCountThem() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            int writes = 1000;
            int reads = 300;
            for (int i = 0; i < writes; i++) {
                pair.connection().write(pair.local(), 0, pair.remote(), 0, 100, NO_DEADLINE, (transfer, error) -> {});
            }
            for (int i = 0; i < reads; i++) {
                pair.connection().read(pair.local(), 0, pair.remote(), 0, 7, NO_DEADLINE, (transfer, error) -> {});
            }
            threadOfCallback(pair, true, 1 << 20);
            EngineMetrics metrics = pair.initiator().metrics();
            // the last one ends on the poller, which counts it by itself
            Patience.until("all are counted", () -> metrics.operations(Operation.WRITE, Outcome.SUCCESS) > writes);
            assertThat(metrics.operations(Operation.WRITE, Outcome.SUCCESS)).isEqualTo(writes + 1);
            assertThat(metrics.operations(Operation.READ, Outcome.SUCCESS)).isEqualTo(reads);
            assertThat(metrics.bytes(Operation.WRITE)).isEqualTo(writes * 100L + (1 << 20));
            assertThat(metrics.bytes(Operation.READ)).isEqualTo(reads * 7L);
            TransportMetrics figures = metrics.transports().getFirst();
            assertThat(figures.duration(Operation.WRITE).count()).isEqualTo(writes + 1);
            assertThat(figures.creditWait(Operation.WRITE).count()).isEqualTo(writes + 1);
            assertThat(figures.completion(Operation.WRITE).count()).isEqualTo(writes + 1);
            assertThat(figures.duration(Operation.READ).count()).isEqualTo(reads);
            assertThat(figures.creditWait(Operation.READ).counts()[0])
                    .as("who carries a transfer out waits for nothing")
                    .isEqualTo(reads);
            assertThat(figures.duration(Operation.READ).sumNanos()).isPositive();
            assertThat(figures.wireBytesReceived()).isGreaterThanOrEqualTo(reads * 7L);
            for (Outcome other : List.of(Outcome.ERROR, Outcome.CANCELLED, Outcome.TIMEOUT)) {
                assertThat(metrics.operations(Operation.WRITE, other)).isZero();
            }
            pair.assertNothingInFlight();
            assertThat(pair.connection().window().maxOperationsSeen()).isOne();
        }
    }

    /** A transfer that is cancelled before its own signal, which the thread still owes. */
    @Test
    void cancelledOnesAreCountedAsTheyEnd() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            AtomicReference<@Nullable SluiceException> inner = new AtomicReference<>();
            AtomicInteger innerSignals = new AtomicInteger();
            pair.connection().write(pair.local(), 0, pair.remote(), 0, 8, NO_DEADLINE, (outer, error) -> {
                Transfer cancelled = pair.connection()
                        .write(pair.local(), 0, pair.remote(), 0, 8, NO_DEADLINE, (transfer, innerError) -> {
                            inner.set(innerError);
                            innerSignals.incrementAndGet();
                        });
                assertThat(innerSignals).as("not inside another's callback").hasValue(0);
                cancelled.cancel();
            });
            assertThat(innerSignals).hasValue(1);
            SluiceException end = inner.get();
            EngineMetrics metrics = pair.initiator().metrics();
            boolean wasCancelled = end instanceof TransferCancelledException;
            Patience.until(
                    "both are counted",
                    () -> metrics.operations(Operation.WRITE, Outcome.SUCCESS)
                                    + metrics.operations(Operation.WRITE, Outcome.CANCELLED)
                            >= 2);
            assertThat(metrics.operations(Operation.WRITE, Outcome.SUCCESS)).isEqualTo(wasCancelled ? 1 : 2);
            assertThat(metrics.operations(Operation.WRITE, Outcome.CANCELLED)).isEqualTo(wasCancelled ? 1 : 0);
            pair.assertNothingInFlight();
        }
    }

    @Test
    void preparedTransferIsStartedAgainByItsOwnCallback() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            int runs = 100_000;
            AtomicInteger ended = new AtomicInteger();
            CompletableFuture<Integer> done = new CompletableFuture<>();
            PreparedTransfer prepared = pair.connection()
                    .prepared()
                    .write(pair.local(), 0, pair.remote(), 0, 64, NO_DEADLINE, (transfer, error) -> {
                        int run = ended.incrementAndGet();
                        if (error != null) {
                            done.completeExceptionally(error);
                        } else if (run < runs) {
                            ((PreparedTransfer) transfer).start();
                        } else {
                            done.complete(run);
                        }
                    });
            prepared.start();
            assertThat(Patience.await(done)).isEqualTo(runs);
            Patience.until("it is over", prepared::isTerminated);
            EngineMetrics metrics = pair.initiator().metrics();
            Patience.until("all are counted", () -> metrics.operations(Operation.WRITE, Outcome.SUCCESS) >= runs);
            assertThat(metrics.operations(Operation.WRITE, Outcome.SUCCESS)).isEqualTo(runs);
            pair.assertNothingInFlight();
        }
    }

    /** One thread starts a transfer again and again, another cancels it meanwhile. */
    @Test
    void cancelledByAnotherThreadAtTheSameTime() {
        try (ShmPair pair = ShmPair.open(REGION)) {
            int runs = 50_000;
            AtomicInteger ended = new AtomicInteger();
            AtomicInteger cancelled = new AtomicInteger();
            List<SluiceException> unexpected = new ArrayList<>();
            PreparedTransfer prepared = pair.connection()
                    .prepared()
                    .write(pair.local(), 0, pair.remote(), 0, 4096, NO_DEADLINE, (transfer, error) -> {
                        if (error instanceof TransferCancelledException) {
                            cancelled.incrementAndGet();
                        } else if (error != null) {
                            unexpected.add(error);
                        }
                        ended.incrementAndGet();
                    });
            AtomicReference<@Nullable Thread> stop = new AtomicReference<>();
            Thread canceller = Thread.ofPlatform().start(() -> {
                while (stop.get() == null) {
                    prepared.cancel();
                    Thread.onSpinWait();
                }
            });
            for (int run = 1; run <= runs; run++) {
                prepared.start();
                int expected = run;
                Patience.until("the run ends", () -> ended.get() == expected);
                Patience.await(prepared.quiesced());
            }
            stop.set(canceller);
            Patience.join(canceller);
            assertThat(unexpected).isEmpty();
            assertThat(ended).hasValue(runs);
            EngineMetrics metrics = pair.initiator().metrics();
            Patience.until(
                    "all are counted",
                    () -> metrics.operations(Operation.WRITE, Outcome.SUCCESS)
                                    + metrics.operations(Operation.WRITE, Outcome.CANCELLED)
                            == runs);
            assertThat(metrics.operations(Operation.WRITE, Outcome.CANCELLED))
                    .as("as their callbacks reported")
                    .isEqualTo(cancelled.get());
            pair.assertNothingInFlight();
        }
    }
}
