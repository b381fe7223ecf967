package io.sluice.engine.progress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PollerTest extends PollerFixture {
    private static final int THREADS = 8;
    private static final int TASKS = 20_000;

    // ---- tasks ----

    private static List<Thread> handOver(Poller poller, AtomicIntegerArray runs, Runnable after) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int from = i * TASKS;
            threads.add(Thread.ofPlatform().daemon().start(() -> {
                for (int task = from; task < from + TASKS; task++) {
                    int number = task;
                    poller.execute(() -> {
                        runs.incrementAndGet(number);
                        after.run();
                    });
                }
            }));
        }
        return threads;
    }

    private static void assertEachRanOnce(AtomicIntegerArray runs) {
        for (int i = 0; i < runs.length(); i++) {
            if (runs.get(i) != 1) {
                assertThat(runs.get(i)).as("runs of task %d", i).isEqualTo(1);
            }
        }
    }

    /** Only the thread itself may ask for it; the kernel's default is 50 microseconds. */
    @Test
    void itsParksEndWhenTheyAreTo() {
        CompletableFuture<String> slack = new CompletableFuture<>();
        poller(Duration.ZERO).execute(() -> {
            try {
                Path thread =
                        Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
                slack.complete(Files.readString(Path.of("/proc", thread.toString(), "timerslack_ns"))
                        .strip());
            } catch (IOException e) {
                slack.completeExceptionally(e);
            }
        });
        assertThat(Patience.await(slack)).isEqualTo("1");
    }

    /** One that parks at once, so that each hand-over races with parking, and one that hardly ever parks. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1_000_000})
    void tasksOfManyThreadsRunOnceEachOnThePollersThread(long spinNanos) throws Exception {
        Poller poller = poller(Duration.ofNanos(spinNanos));
        AtomicIntegerArray runs = new AtomicIntegerArray(THREADS * TASKS);
        AtomicInteger elsewhere = new AtomicInteger();
        CountDownLatch left = new CountDownLatch(THREADS * TASKS);
        handOver(poller, runs, () -> {
            if (!poller.inLoop()) {
                elsewhere.incrementAndGet();
            }
            left.countDown();
        });
        Patience.await(left);
        assertEachRanOnce(runs);
        assertThat(elsewhere).hasValue(0);
        assertThat(poller.inLoop()).isFalse();
    }

    @Test
    void tasksOfOneThreadRunInItsOrder() {
        Poller poller = poller();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            int number = i;
            poller.execute(() -> order.add(number));
        }
        List<Integer> seen = on(poller, () -> List.copyOf(order));
        assertThat(seen).hasSize(10_000).isSorted();
    }

    /** A lone task wakes a poller that has parked: again and again, as one lost wake-up is enough to hang an engine. */
    @Test
    void parkedPollerIsWokenByEveryTask() {
        Poller poller = poller();
        for (int i = 0; i < 5_000; i++) {
            int number = i;
            assertThat(on(poller, () -> number)).isEqualTo(number);
        }
    }

    @Test
    void tasksHandedOverWhileItStopsAndAfterwardsRunOnceEach() throws Exception {
        for (int round = 0; round < 5; round++) {
            Poller poller = poller();
            AtomicIntegerArray runs = new AtomicIntegerArray(THREADS * TASKS);
            AtomicInteger atOnce = new AtomicInteger();
            AtomicInteger together = new AtomicInteger();
            List<Thread> threads = handOver(poller, runs, () -> {
                if (atOnce.incrementAndGet() != 1) {
                    together.incrementAndGet();
                }
                atOnce.decrementAndGet();
            });
            Patience.pause(Duration.ofMillis(round));
            Patience.await(poller.stop());
            for (Thread thread : threads) {
                Patience.join(thread);
            }
            assertEachRanOnce(runs);
            assertThat(together).as("tasks that ran at the same time").hasValue(0);
        }
    }

    @Test
    void afterTheStopATaskRunsBeforeItsHandOverReturns() {
        Poller poller = poller();
        Patience.await(poller.stop());
        AtomicInteger runs = new AtomicInteger();
        poller.execute(() -> poller.execute(runs::incrementAndGet));
        assertThat(runs).hasValue(1);
        assertThat(Patience.await(poller.stop())).isNull();
    }

    /** The logged errors; on a busy machine the log has warnings about long duty cycles as well. */
    private static List<String> thrown(CapturedLog log) {
        return log.lines().stream()
                .filter(line -> line.contains("thrown on purpose"))
                .toList();
    }

    @Test
    void taskThatThrowsHarmsNoOther() {
        try (CapturedLog log = CapturedLog.warnings()) {
            Poller poller = poller();
            poller.execute(() -> {
                throw new IllegalStateException("thrown on purpose");
            });
            poller.execute(() -> {
                throw new StackOverflowError("thrown on purpose");
            });
            assertThat(on(poller, () -> 1)).isEqualTo(1);
            assertThat(thrown(log)).hasSize(2);
        }
    }

    // ---- the end of a cycle ----

    @Test
    void endOfCycleFollowsItsTasksOnce() {
        Poller poller = poller();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        poller.execute(() -> {
            poller.atEndOfCycle(() -> {
                order.add("end");
                poller.atEndOfCycle(() -> order.add("next end"));
            });
            order.add("task");
        });
        Patience.until("all ran", () -> order.size() == 3);
        on(poller, () -> 0);
        on(poller, () -> 0);
        assertThat(order).containsExactly("task", "end", "next end");
    }

    @Test
    void whatACallbackLeavesForTheEndOfTheCycleFollowsAllCallbacks() {
        Poller poller = poller();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        // Tasks that are there when a cycle begins run in it, as callbacks do.
        poller.execute(() -> {
            poller.execute(() -> {
                TransferEngine.atEndOfCycle(() -> order.add("end"));
                order.add("one");
            });
            poller.execute(() -> order.add("other"));
        });
        Patience.until("all ran", () -> order.size() == 3);
        assertThat(order).containsExactly("one", "other", "end");
    }

    @Test
    void onAnotherThreadThereIsNoCycleToWaitFor() {
        AtomicInteger runs = new AtomicInteger();
        TransferEngine.atEndOfCycle(runs::incrementAndGet);
        assertThat(runs).hasValue(1);
    }

    @Test
    void theEndOfTheLastCycleLeavesNothing() {
        for (int round = 0; round < 200; round++) {
            Poller poller = poller();
            AtomicInteger runs = new AtomicInteger();
            poller.execute(() -> TransferEngine.atEndOfCycle(() -> {
                runs.incrementAndGet();
                TransferEngine.atEndOfCycle(() -> {
                    runs.incrementAndGet();
                    TransferEngine.atEndOfCycle(runs::incrementAndGet);
                });
            }));
            // A dependent of the end may run on the poller's thread, after all its cycles.
            CompletableFuture<Void> stopped =
                    poller.stop().thenRun(() -> TransferEngine.atEndOfCycle(runs::incrementAndGet));
            Patience.await(stopped);
            assertThat(runs).hasValue(4);
        }
    }

    // ---- deadlines ----

    @Test
    void deadlinesExpireInTheirOrderAndNeverEarly() {
        Poller poller = poller();
        Random random = new Random(3);
        int count = 500;
        List<Long> order = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger early = new AtomicInteger();
        on(poller, () -> {
            long now = poller.now();
            for (int i = 0; i < count; i++) {
                long at = now + random.nextInt(50_000_000) - 1_000_000;
                poller.arm(
                        new Deadline() {
                            @Override
                            protected void expired() {
                                order.add(at);
                                if (System.nanoTime() - at < 0) {
                                    early.incrementAndGet();
                                }
                            }
                        },
                        at);
            }
            return count;
        });
        Patience.until("all have expired", () -> order.size() == count);
        assertThat(order).isSorted();
        assertThat(early).hasValue(0);
    }

    @Test
    void deadlineThatArmsItselfAgainTicks() {
        Poller poller = poller();
        AtomicInteger ticks = new AtomicInteger();
        Deadline ticker = new Deadline() {
            @Override
            protected void expired() {
                if (ticks.incrementAndGet() < 20) {
                    poller.arm(this, poller.now() + 1_000_000);
                }
            }
        };
        poller.execute(() -> poller.arm(ticker, poller.now()));
        Patience.until("it ticked", () -> ticks.get() == 20);
    }

    @Test
    void disarmedDeadlineDoesNotExpire() {
        Poller poller = poller();
        AtomicInteger expired = new AtomicInteger();
        Deadline deadline = new Deadline() {
            @Override
            protected void expired() {
                expired.incrementAndGet();
            }
        };
        on(poller, () -> {
            poller.arm(deadline, poller.now() + 5_000_000);
            return 0;
        });
        on(poller, () -> {
            poller.disarm(deadline);
            return 0;
        });
        Patience.pause(Duration.ofMillis(20));
        assertThat(expired).hasValue(0);
    }

    @Test
    void deadlineThatThrowsHarmsNoOther() {
        try (CapturedLog log = CapturedLog.warnings()) {
            Poller poller = poller();
            CompletableFuture<Void> second = new CompletableFuture<>();
            poller.execute(() -> {
                poller.arm(
                        new Deadline() {
                            @Override
                            protected void expired() {
                                throw new AssertionError("thrown on purpose");
                            }
                        },
                        poller.now());
                poller.arm(
                        new Deadline() {
                            @Override
                            protected void expired() {
                                second.complete(null);
                            }
                        },
                        poller.now() + 1);
            });
            Patience.await(second);
            assertThat(thrown(log)).hasSize(1);
        }
    }

    // ---- end ----

    /** Each flush that fails counts as work, and might bring more. */
    @Test
    void whatAlwaysFailsAtTheEndOfACycleDoesNotKeepThePollerFromItsEnd() {
        Poller poller = poller();
        AtomicInteger flushes = new AtomicInteger();
        on(poller, () -> {
            poller.add(new TransportLoop() {
                @Override
                public Endpoint endpoint(EndpointContext context) {
                    throw new UnsupportedOperationException();
                }

                @Override
                public int flush() {
                    flushes.incrementAndGet();
                    throw new IllegalStateException("thrown on purpose");
                }
            });
            return null;
        });
        Patience.await(poller.stop());
        assertThat(flushes).hasPositiveValue();
        int last = flushes.get();
        CompletableFuture<Void> ran = new CompletableFuture<>();
        poller.execute(() -> ran.complete(null));
        assertThat(ran).isCompleted();
        assertThat(flushes.get()).isGreaterThan(last);
    }

    @Test
    void pollerThatIsNeverStartedGivesItsDescriptorsBack() {
        int before = OpenDescriptors.count();
        new Poller("tested poller", 0, EngineOptions.defaults(), failed -> {}).discard();
        OpenDescriptors.assertSettleAt(before);
    }

    @Test
    void stopGivesDescriptorsAndTheThreadBack() {
        int before = OpenDescriptors.count();
        for (int i = 0; i < 50; i++) {
            Patience.await(poller().stop());
        }
        OpenDescriptors.assertSettleAt(before);
        Patience.until(
                "the threads have ended",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().equals("tested poller")));
    }

    @Test
    void aLongDutyCycleIsReportedWithWhereItsTimeWent() {
        try (Arena arena = Arena.ofConfined();
                CapturedLog log = CapturedLog.warnings()) {
            assumeTrue(ThreadTimes.ofKernel(arena).read(), "this kernel counts nothing of threads");
            Poller poller = new Poller(
                    "tested poller",
                    0,
                    PatientOptions.builder()
                            .stallThreshold(Duration.ofMillis(20))
                            .build(),
                    failed -> failures.incrementAndGet());
            pollers.add(poller);
            poller.start();
            on(poller, () -> {
                LockSupport.parkNanos(Duration.ofMillis(60).toNanos());
                return true;
            });
            Patience.until("it is reported", () -> !log.lines().isEmpty());
            assertThat(log.lines().getFirst())
                    .containsPattern("tested poller was held up for \\d+ ms in one duty cycle: its thread had no"
                            + " processor for \\d+ ms of \\d+, ran for \\d+ ms and waited for \\d+ ms: ");
        }
    }
}
