package io.sluice.engine.progress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.TransportLoop;
import io.sluice.jni.EventDescriptor;
import io.sluice.jni.Sockets;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.Arena;
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
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PollerTest {
    private static final int THREADS = 8;
    private static final int TASKS = 20_000;

    private final List<Poller> pollers = new ArrayList<>();
    private final AtomicInteger failures = new AtomicInteger();

    @AfterEach
    void stop() {
        pollers.forEach(poller -> Patience.await(poller.stop()));
        assertThat(failures).hasValue(0);
    }

    private Poller poller(Duration spin) {
        Poller poller = new Poller(
                "tested poller",
                0,
                PatientOptions.builder().spin(spin).yield(spin).build(),
                failed -> failures.incrementAndGet());
        pollers.add(poller);
        poller.start();
        return poller;
    }

    private Poller poller() {
        return poller(Duration.ZERO);
    }

    /** Runs on the poller's thread and gives what came of it. */
    private static <T> T on(Poller poller, Supplier<T> task) {
        CompletableFuture<T> done = new CompletableFuture<>();
        poller.execute(() -> {
            try {
                done.complete(task.get());
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        });
        return Patience.await(done);
    }

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

    // ---- descriptors ----

    @Test
    void readinessReachesTheHandlerUntilTheWatchIsCancelled() {
        Poller poller = poller();
        int descriptor = EventDescriptor.create();
        AtomicInteger ready = new AtomicInteger();
        EventLoop.Watch watch = on(
                poller,
                () -> poller.watch(descriptor, (readable, writable) -> {
                    EventDescriptor.drain(descriptor);
                    ready.incrementAndGet();
                }));
        EventDescriptor.signal(descriptor);
        Patience.until("it was heard", () -> ready.get() == 1);
        on(poller, () -> {
            watch.cancel();
            watch.cancel();
            return 0;
        });
        EventDescriptor.signal(descriptor);
        Patience.pause(Duration.ofMillis(10));
        assertThat(ready).hasValue(1);
        Sockets.close(descriptor);
    }

    /** A handler that counts its calls, and expects more on request. */
    private static final class HotHandler implements EventLoop.ReadinessHandler {
        private final int descriptor = EventDescriptor.create();
        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicInteger signals = new AtomicInteger();
        private volatile boolean expecting;
        private EventLoop.Watch watch;

        static HotHandler on(Poller poller) {
            HotHandler handler = new HotHandler();
            handler.watch = PollerTest.on(poller, () -> poller.watch(handler.descriptor, handler));
            return handler;
        }

        @Override
        public void ready(boolean readable, boolean writable) {
            EventDescriptor.drain(descriptor);
            calls.incrementAndGet();
            if (expecting) {
                watch.expectMore();
            }
        }

        void signal() {
            signals.incrementAndGet();
            EventDescriptor.signal(descriptor);
        }

        /** Expectations are short: a machine that is busy with something else may let one grow old before the next look. */
        void signalUntilCalledWithoutReadiness() {
            expecting = true;
            Patience.until("it is called though nothing is ready", () -> {
                signal();
                return calls.get() > 10 + 2 * signals.get();
            });
        }
    }

    private static final Duration HARDLY_EVER_PARKS = Duration.ofSeconds(100);

    @Test
    void handlerThatExpectsMoreIsCalledUntilItsExpectationIsOld() {
        Poller poller = poller(HARDLY_EVER_PARKS);
        HotHandler handler = HotHandler.on(poller);
        handler.signalUntilCalledWithoutReadiness();
        handler.expecting = false;
        Patience.until("it is called no more", () -> {
            int before = handler.calls.get();
            Patience.pause(Duration.ofMillis(10));
            // the poller had a processor in this time: what was signalled before has been heard
            on(poller, () -> 0);
            on(poller, () -> 0);
            return handler.calls.get() == before;
        });
        int before = handler.calls.get();
        handler.signal();
        Patience.until("the kernel reports it again", () -> handler.calls.get() > before);
        Sockets.close(handler.descriptor);
    }

    /** More of them than the loop looks at by itself, and all the time. */
    @Test
    void thoseThatExpectMoreDoNotKeepOthersFromBeingHeard() {
        Poller poller = poller(HARDLY_EVER_PARKS);
        List<HotHandler> hot = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            HotHandler handler = HotHandler.on(poller);
            handler.expecting = true;
            handler.signal();
            hot.add(handler);
        }
        HotHandler other = HotHandler.on(poller);
        for (int i = 1; i <= 100; i++) {
            int calls = i;
            other.signal();
            Patience.until("the other was heard", () -> other.calls.get() == calls);
            HotHandler one = hot.get(i % hot.size());
            int before = one.calls.get();
            one.signal();
            Patience.until("each of them was heard", () -> one.calls.get() > before);
        }
    }

    @Test
    void handlerThatExpectsMoreIsNotCalledOnceItsWatchIsCancelledOrAsksForNothing() {
        Poller poller = poller(HARDLY_EVER_PARKS);
        HotHandler cancelled = HotHandler.on(poller);
        HotHandler deaf = HotHandler.on(poller);
        for (HotHandler handler : List.of(cancelled, deaf)) {
            handler.signalUntilCalledWithoutReadiness();
        }
        int[] calls = on(poller, () -> {
            cancelled.watch.cancel();
            deaf.watch.interest(false, false);
            return new int[] {cancelled.calls.get(), deaf.calls.get()};
        });
        Patience.pause(Duration.ofMillis(10));
        assertThat(cancelled.calls).hasValue(calls[0]);
        assertThat(deaf.calls).hasValue(calls[1]);
        Sockets.close(cancelled.descriptor);
        Sockets.close(deaf.descriptor);
    }

    /** Work that a callback begins leaves with the end of the cycle that called it. */
    @Test
    void whatAHandlerHandsOverRunsBeforeTheEndOfItsCycle() {
        Poller poller = poller();
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        int descriptor = EventDescriptor.create();
        on(
                poller,
                () -> poller.watch(descriptor, (readable, writable) -> {
                    EventDescriptor.drain(descriptor);
                    poller.atEndOfCycle(() -> order.add("end"));
                    poller.execute(() -> order.add("task"));
                    order.add("handler");
                }));
        EventDescriptor.signal(descriptor);
        Patience.until("all ran", () -> order.size() == 3);
        assertThat(order).containsExactly("handler", "task", "end");
        on(poller, () -> Sockets.close(descriptor));
    }

    /**
     * Two descriptors are ready in one batch. The first handler that is called closes the other descriptor, whose number the
     * kernel gives out again at once: the event that is still in the batch must not reach the newcomer.
     */
    @Test
    void staleEventDoesNotReachTheDescriptorsNextOwner() {
        Poller poller = poller();
        for (int round = 0; round < 200; round++) {
            assertThat(on(poller, () -> new Swap(poller)).strangerHeard(poller)).isZero();
        }
    }

    private static final class Swap {
        private final int[] descriptors = {EventDescriptor.create(), EventDescriptor.create()};
        private final EventLoop.Watch[] watches = new EventLoop.Watch[2];
        private final CompletableFuture<Integer> swapped = new CompletableFuture<>();
        private final AtomicInteger heard = new AtomicInteger();
        private EventLoop.Watch newcomer;

        Swap(Poller poller) {
            for (int i = 0; i < 2; i++) {
                int mine = i;
                watches[i] = poller.watch(descriptors[i], (readable, writable) -> swap(poller, mine));
                EventDescriptor.signal(descriptors[i]);
            }
        }

        private void swap(Poller poller, int mine) {
            int other = 1 - mine;
            EventDescriptor.drain(descriptors[mine]);
            watches[mine].cancel();
            watches[other].cancel();
            Sockets.close(descriptors[other]);
            descriptors[other] = EventDescriptor.create();
            newcomer = poller.watch(descriptors[other], (readable, writable) -> heard.incrementAndGet());
            swapped.complete(other);
        }

        int strangerHeard(Poller poller) {
            Patience.await(swapped);
            on(poller, () -> 0);
            return on(poller, () -> {
                newcomer.cancel();
                Sockets.close(descriptors[0]);
                Sockets.close(descriptors[1]);
                return heard.get();
            });
        }
    }

    @Test
    void watchOfAClosedGenerationChangesNothing() {
        Poller poller = poller();
        int descriptor = EventDescriptor.create();
        AtomicInteger ready = new AtomicInteger();
        on(poller, () -> {
            EventLoop.Watch old = poller.watch(descriptor, (readable, writable) -> {
                throw new AssertionError("cancelled");
            });
            old.cancel();
            poller.watch(descriptor, (readable, writable) -> {
                EventDescriptor.drain(descriptor);
                ready.incrementAndGet();
            });
            // These are about a watch that is over, and must not touch its successor.
            old.interest(false, false);
            old.cancel();
            return 0;
        });
        EventDescriptor.signal(descriptor);
        Patience.until("the successor hears", () -> ready.get() == 1);
    }

    @Test
    void manyDescriptorsAreWatched() {
        Poller poller = poller();
        int count = 1000;
        int[] descriptors = new int[count];
        AtomicIntegerArray heard = new AtomicIntegerArray(count);
        on(poller, () -> {
            for (int i = 0; i < count; i++) {
                int number = i;
                descriptors[i] = EventDescriptor.create();
                poller.watch(descriptors[i], (readable, writable) -> {
                    EventDescriptor.drain(descriptors[number]);
                    heard.incrementAndGet(number);
                });
            }
            return 0;
        });
        for (int descriptor : descriptors) {
            EventDescriptor.signal(descriptor);
        }
        Patience.until("all were heard", () -> {
            for (int i = 0; i < count; i++) {
                if (heard.get(i) == 0) {
                    return false;
                }
            }
            return true;
        });
        Patience.await(poller.stop());
        for (int descriptor : descriptors) {
            Sockets.close(descriptor);
        }
    }

    /** The number of its descriptor may denote another file by then. */
    @Test
    void afterTheStopNothingIsWatched() {
        Poller poller = poller();
        int descriptor = EventDescriptor.create();
        EventLoop.Watch watch = on(poller, () -> poller.watch(descriptor, (readable, writable) -> {}));
        Patience.await(poller.stop());
        assertThat(poller.isRunning()).isFalse();
        watch.interest(true, true);
        watch.cancel();
        assertThatThrownBy(() -> poller.watch(descriptor, (readable, writable) -> {}))
                .isInstanceOf(SluiceException.class);
        Sockets.close(descriptor);
    }

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
