package io.sluice.engine.session;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.CapturedLog;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.EngineLoop.Source;
import io.sluice.engine.EngineLoop.SourceHandle;
import io.sluice.engine.EngineObserver;
import io.sluice.engine.PollerMetrics;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tasks and sources on the loop of a connection. */
class EngineLoopTest {
    private final List<Long> stalls = new CopyOnWriteArrayList<>();
    private final TransferEngine engine = TransferEngine.open(PatientOptions.builder()
            .transports(List.of("tcp"))
            .pollers(1)
            .spin(Duration.ofNanos(10_000))
            .yield(Duration.ZERO)
            .stallThreshold(Duration.ofMillis(50))
            .observer(new EngineObserver() {
                @Override
                public void pollerStalled(int poller, long nanos) {
                    stalls.add(nanos);
                }
            })
            .build());
    private final EngineLoop loop = await(engine.connect(engine.address())).loop();

    @AfterEach
    void close() {
        await(engine.closeAsync());
    }

    private PollerMetrics poller() {
        return engine.metrics().pollers().getFirst();
    }

    /** Does units of work that are put into it. */
    private final class Units implements Source {
        final AtomicInteger left = new AtomicInteger();
        final AtomicInteger polls = new AtomicInteger();
        final LongAdder done = new LongAdder();
        // the first ones
        final List<Integer> shares = new CopyOnWriteArrayList<>();
        final CompletableFuture<Optional<Throwable>> removal = new CompletableFuture<>();
        final AtomicInteger removals = new AtomicInteger();
        volatile boolean elsewhere;

        @Override
        public int poll(int budget) {
            polls.incrementAndGet();
            elsewhere |= !loop.inLoop() || !TransferEngine.isPollerThread(Thread.currentThread());
            int share = Math.min(budget, left.get());
            done.add(share);
            if (shares.size() < 10) {
                shares.add(share);
            }
            left.addAndGet(-share);
            return share;
        }

        @Override
        public void removed(@Nullable Throwable cause) {
            elsewhere |= !loop.inLoop();
            removals.incrementAndGet();
            removal.complete(Optional.ofNullable(cause));
        }

        void work(int units) {
            left.addAndGet(units);
        }
    }

    private <T> T inLoop(Supplier<T> task) {
        CompletableFuture<T> done = new CompletableFuture<>();
        loop.execute(() -> done.complete(task.get()));
        return await(done);
    }

    // ---- tasks ----

    @Test
    void tasksRunInTheLoopInTheirOrderAndNotInsideTheCall() {
        assertThat(loop.inLoop()).isFalse();
        List<Integer> ran = new ArrayList<>();
        CompletableFuture<Boolean> insideTheCall = new CompletableFuture<>();
        for (int i = 0; i < 1000; i++) {
            int number = i;
            loop.execute(() -> ran.add(loop.inLoop() ? number : -1));
        }
        loop.execute(() -> {
            loop.execute(() -> ran.add(-2));
            insideTheCall.complete(ran.contains(-2));
        });
        assertThat(await(insideTheCall)).isFalse();
        assertThat(inLoop(() -> List.copyOf(ran)))
                .hasSize(1001)
                .startsWith(0, 1, 2)
                .endsWith(999, -2)
                .doesNotContain(-1);
    }

    @Test
    void aTaskThatThrowsIsLoggedAndTheLoopLives() {
        try (CapturedLog log = CapturedLog.warnings()) {
            loop.execute(() -> {
                throw new IllegalStateException("as the test wants it");
            });
            assertThat(inLoop(loop::inLoop)).isTrue();
            assertThat(log.lines()).anyMatch(line -> line.contains("as the test wants it"));
        }
    }

    // ---- sources ----

    @Test
    void aSourceDoesItsBudgetACycleUntilNothingIsLeft() {
        Units units = new Units();
        units.work(25);
        try (SourceHandle handle = loop.addSource(units, 10)) {
            until("all is done", () -> units.shares.size() >= 3);
            assertThat(units.shares).containsExactly(10, 10, 5);
            units.work(7);
            handle.signal();
            until("the rest is done", () -> units.shares.size() >= 4);
            assertThat(units.shares).containsExactly(10, 10, 5, 7);
            assertThat(units.elsewhere).isFalse();
        }
        assertThat(await(units.removal)).isEmpty();
    }

    @Test
    void tasksHaveTheirTurnWhileASourceAlwaysHasMore() {
        Units units = new Units();
        units.work(Integer.MAX_VALUE);
        try (SourceHandle ignored = loop.addSource(units, 1)) {
            until("it works", () -> units.polls.get() > 100);
            assertThat(inLoop(loop::inLoop)).isTrue();
            assertThat(await(await(engine.connect(engine.address())).quiet())).isNull();
        }
        await(units.removal);
    }

    /** An idle source neither keeps the loop from parking nor is it polled. */
    @Test
    void aLoopWhoseSourceHasNoWorkParks() {
        Units units = new Units();
        SourceHandle handle = loop.addSource(units, 10);
        until("it was asked once", () -> units.polls.get() == 1);
        until("nothing is polled while the loop is parked", () -> {
            long before = poller().emptyPolls() + poller().busyPolls();
            Patience.pause(Duration.ofMillis(20));
            // liveness may wake it now and then, and then it spins for 10 us
            return poller().emptyPolls() + poller().busyPolls() - before < 5;
        });
        assertThat(units.polls).hasValue(1);
        units.work(1);
        handle.signal();
        until("the signal has woken it", () -> units.left.get() == 0);
        handle.close();
        await(units.removal);
    }

    /** The loop parks meanwhile, and nothing else has it polled. */
    @Test
    void aSourceIsPolledAtTheTimeThatItHasSet() {
        Units units = new Units();
        SourceHandle handle = loop.addSource(units, 10);
        until("it was asked", () -> units.polls.get() == 1);
        long at = System.nanoTime() + 20_000_000;
        inLoop(() -> signalAt(handle, at));
        until("it is asked again", () -> units.polls.get() == 2);
        assertThat(System.nanoTime() - at).isNotNegative();
        inLoop(() -> signalAt(handle, System.nanoTime() + Duration.ofDays(1).toNanos()));
        inLoop(() -> signalAt(handle, System.nanoTime()));
        until("it is asked at the time that was set last", () -> units.polls.get() == 3);
        assertThatThrownBy(() -> handle.signalAt(0)).isInstanceOf(IllegalStateException.class);
        inLoop(() -> signalAt(handle, System.nanoTime() + 10_000_000));
        handle.close();
        await(units.removal);
        inLoop(() -> signalAt(handle, System.nanoTime()));
        Patience.pause(Duration.ofMillis(20));
        assertThat(units.polls).hasValue(3);
    }

    private static boolean signalAt(SourceHandle handle, long nanoTime) {
        handle.signalAt(nanoTime);
        return true;
    }

    /** A signal that comes while the source looks for work in vain. */
    @Test
    void aSignalInTheMidstOfAPollIsNotLost() {
        CompletableFuture<SourceHandle> handle = new CompletableFuture<>();
        CountDownLatch again = new CountDownLatch(2);
        SourceHandle added = loop.addSource(
                budget -> {
                    if (again.getCount() == 2) {
                        handle.join().signal();
                    }
                    again.countDown();
                    return 0;
                },
                1);
        handle.complete(added);
        await(again);
        added.close();
    }

    @Test
    void signalsOfManyThreadsAreSeen() {
        Units units = new Units();
        SourceHandle handle = loop.addSource(units, 3);
        int threads = 4;
        int rounds = 20_000;
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(Thread.ofPlatform().start(() -> {
                for (int round = 0; round < rounds; round++) {
                    units.work(1);
                    handle.signal();
                }
            }));
        }
        all.forEach(Patience::join);
        until("all is done", () -> units.left.get() == 0);
        assertThat(units.done.sum()).isEqualTo(threads * rounds);
        assertThat(units.elsewhere).isFalse();
        handle.close();
    }

    @Test
    void aSourceIsToldOnceThatItIsRemovedAndNotPolledAgain() {
        Units units = new Units();
        SourceHandle handle = loop.addSource(units, 1);
        until("it was asked", () -> units.polls.get() == 1);
        handle.close();
        handle.close();
        assertThat(await(units.removal)).isEmpty();
        handle.signal();
        inLoop(() -> true);
        inLoop(() -> true);
        assertThat(units.polls).hasValue(1);
        assertThat(units.removals).hasValue(1);
    }

    @Test
    void aSourceMayRemoveItselfAndOthers() {
        Units other = new Units();
        other.work(Integer.MAX_VALUE);
        SourceHandle othersHandle = loop.addSource(other, 1);
        CompletableFuture<SourceHandle> own = new CompletableFuture<>();
        CompletableFuture<Optional<Throwable>> removal = new CompletableFuture<>();
        own.complete(loop.addSource(
                new Source() {
                    @Override
                    public int poll(int budget) {
                        othersHandle.close();
                        own.join().close();
                        return budget;
                    }

                    @Override
                    public void removed(@Nullable Throwable cause) {
                        removal.complete(Optional.ofNullable(cause));
                    }
                },
                1));
        assertThat(await(removal)).isEmpty();
        assertThat(await(other.removal)).isEmpty();
    }

    @Test
    void aSourceThatThrowsIsRemovedAndTheLoopLives() {
        IllegalStateException thrown = new IllegalStateException("as the test wants it");
        CompletableFuture<Optional<Throwable>> removal = new CompletableFuture<>();
        try (CapturedLog log = CapturedLog.warnings()) {
            loop.addSource(
                    new Source() {
                        @Override
                        public int poll(int budget) {
                            throw thrown;
                        }

                        @Override
                        public void removed(@Nullable Throwable cause) {
                            removal.complete(Optional.ofNullable(cause));
                        }

                        @Override
                        public String toString() {
                            return "of bad manners";
                        }
                    },
                    1);
            assertThat(await(removal)).containsSame(thrown);
            assertThat(inLoop(loop::inLoop)).isTrue();
            assertThat(log.lines())
                    .anyMatch(line -> line.contains("source of bad manners") && line.contains("as the test wants it"));
        }
    }

    /** A source of another kind of bad manners. */
    private static Source named(String name, Source source) {
        return new Source() {
            @Override
            public int poll(int budget) {
                return source.poll(budget);
            }

            @Override
            public String toString() {
                return name;
            }
        };
    }

    /** Lets it be polled until the log has a line; of what happens often only some is logged. */
    private void assertReported(Source source, String line) {
        try (CapturedLog log = CapturedLog.warnings();
                SourceHandle handle = loop.addSource(source, 10)) {
            until("it is logged", () -> {
                handle.signal();
                return log.lines().stream().anyMatch(each -> each.contains(line));
            });
            assertThat(poller().stalls()).isPositive();
            assertThat(stalls).isNotEmpty();
        }
        assertThat(inLoop(loop::inLoop)).isTrue();
    }

    @Test
    void aSourceThatDoesMoreThanItsBudgetIsReported() {
        assertReported(named("too much", budget -> 12), "source too much did 12 at once, and its budget is 10");
    }

    @Test
    void aSourceThatTakesTooLongIsReportedByItsName() {
        Source slow = named("too slow", budget -> {
            Patience.pause(Duration.ofMillis(60));
            return 0;
        });
        assertReported(slow, "source too slow took");
        assertThat(stalls).anyMatch(nanos -> nanos >= 60_000_000L);
    }

    @Test
    void aBudgetIsAtLeastOne() {
        assertThatThrownBy(() -> loop.addSource(budget -> 0, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0");
    }

    // ---- the end ----

    @Test
    void aClosedEngineRefusesTasksAndRemovesItsSources() {
        Units idle = new Units();
        Units busy = new Units();
        busy.work(Integer.MAX_VALUE);
        loop.addSource(idle, 1);
        SourceHandle handle = loop.addSource(busy, 1);
        await(engine.closeAsync());
        assertThat(await(idle.removal)).containsInstanceOf(ConnectionClosedException.class);
        assertThat(await(busy.removal)).containsInstanceOf(ConnectionClosedException.class);
        assertThat(busy.elsewhere).isFalse();
        handle.signal();
        handle.close();
        assertThat(busy.removals).hasValue(1);
        assertThatThrownBy(() -> loop.execute(() -> {})).isInstanceOf(ConnectionClosedException.class);
        assertThatThrownBy(() -> loop.addSource(idle, 1)).isInstanceOf(ConnectionClosedException.class);
    }

    /** A source added while the engine closes is refused, or its removal is called. */
    @Test
    void noSourceIsForgottenWhileTheEngineCloses() {
        List<Units> added = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> adding = CompletableFuture.runAsync(() -> {
            while (true) {
                Units units = new Units();
                try {
                    loop.addSource(units, 1);
                } catch (ConnectionClosedException refused) {
                    return;
                }
                added.add(units);
            }
        });
        // the other thread does not stop before it is refused, so the engine closes in the middle of its additions
        until("some were added", () -> added.size() >= 100);
        CompletableFuture<Void> closed = engine.closeAsync();
        await(adding);
        await(closed);
        added.forEach(units -> assertThat(await(units.removal)).isPresent());
    }
}
