package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers' threads and the poller share one window: it is never overdrawn, and who waits for a credit gets it. */
class CallerThreadWindowTest {
    private static final TransferOptions NO_DEADLINE = TransferOptions.defaults();
    private static final int THREADS = 6;
    private static final int EACH = 1500;
    private static final int LARGE_EVERY = 50;
    private static final int ROUNDS = 4;
    private static final long SMALL = 256;
    private static final long LARGE = 1 << 20;

    /** The work of all threads together in a round. */
    private static final class Load {
        private final ShmPair pair;
        private final AtomicInteger ended = new AtomicInteger();
        private final AtomicLong bytes = new AtomicLong();
        private final Queue<SluiceException> failures = new ConcurrentLinkedQueue<>();
        private final int windowOfEach;

        Load(ShmPair pair, int windowOfEach) {
            this.pair = pair;
            this.windowOfEach = windowOfEach;
        }

        void run() {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int number = i;
                threads.add(Thread.ofPlatform().start(() -> work(number)));
            }
            // nothing else helps one that is forgotten: these transfers have no deadline
            threads.forEach(Patience::join);
            Patience.until("all have ended", () -> ended.get() == THREADS * EACH);
            assertThat(failures).isEmpty();
            pair.assertNothingInFlight();
        }

        private void work(int number) {
            Semaphore room = new Semaphore(windowOfEach);
            long at = number * LARGE;
            for (int i = 0; i < EACH; i++) {
                long length = (i + number) % LARGE_EVERY == 0 ? LARGE : SMALL;
                try {
                    if (!room.tryAcquire(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS)) {
                        return;
                    }
                } catch (InterruptedException e) {
                    return;
                }
                bytes.addAndGet(length);
                pair.connection().write(pair.local(), at, pair.remote(), at, length, NO_DEADLINE, (transfer, error) -> {
                    if (error != null) {
                        failures.add(error);
                    }
                    ended.incrementAndGet();
                    room.release();
                });
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 64})
    void windowOfOneOperation(int windowOfEach) {
        try (ShmPair pair =
                ShmPair.open(ShmOptions.builder(), THREADS * LARGE, options -> options.windowOperations(1))) {
            long bytes = 0;
            for (int round = 1; round <= ROUNDS; round++) {
                Load load = new Load(pair, windowOfEach);
                load.run();
                bytes += load.bytes.get();
                EngineMetrics metrics = pair.initiator().metrics();
                long operations = (long) round * THREADS * EACH;
                Patience.until(
                        "all are counted", () -> metrics.operations(Operation.WRITE, Outcome.SUCCESS) >= operations);
                assertThat(metrics.operations(Operation.WRITE, Outcome.SUCCESS)).isEqualTo(operations);
                assertThat(metrics.bytes(Operation.WRITE)).isEqualTo(bytes);
            }
            assertThat(pair.connection().window().maxOperationsSeen()).isOne();
        }
    }

    /** The engine's window is shared by two connections, of which one's callers execute transfers inline. */
    @Test
    void windowOfTheEngine() {
        try (ShmPair pair =
                ShmPair.open(ShmOptions.builder(), THREADS * LARGE, options -> options.engineWindowOperations(1))) {
            for (int round = 0; round < ROUNDS; round++) {
                new Load(pair, 2).run();
            }
            assertThat(pair.initiator().metrics().window().maxOperationsSeen()).isOne();
        }
    }

    /** A posted one that waits for a credit that a caller's thread holds at that moment. */
    @Test
    void noWaiterIsForgotten() {
        try (ShmPair pair = ShmPair.open(ShmOptions.builder(), 2 * LARGE, options -> options.windowOperations(1))) {
            AtomicInteger small = new AtomicInteger();
            AtomicInteger stop = new AtomicInteger();
            Thread callers = Thread.ofPlatform().start(() -> {
                while (stop.get() == 0) {
                    pair.connection()
                            .write(
                                    pair.local(),
                                    0,
                                    pair.remote(),
                                    0,
                                    SMALL,
                                    NO_DEADLINE,
                                    (t, error) -> small.incrementAndGet());
                    while (pair.connection().pending() > 100 && stop.get() == 0) {
                        Thread.onSpinWait();
                    }
                }
            });
            for (int i = 0; i < 500; i++) {
                CountDownLatch ended = new CountDownLatch(1);
                pair.connection().write(pair.local(), LARGE, pair.remote(), LARGE, LARGE, NO_DEADLINE, (t, error) -> {
                    if (error == null) {
                        ended.countDown();
                    }
                });
                Patience.await(ended);
            }
            stop.set(1);
            Patience.join(callers);
            assertThat(small.get()).isPositive();
            pair.assertNothingInFlight();
            assertThat(pair.connection().window().maxOperationsSeen()).isOne();
        }
    }
}
