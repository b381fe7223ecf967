package io.sluice.comm.rounds;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.EngineLoop;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tasks for a loop whose engine closes. */
class TeamLoopTest {
    /** A loop that refuses tasks before its thread ends, as that of an engine does. */
    private static final class ClosingLoop implements EngineLoop {
        private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
        private final Thread thread = new Thread(this::run, "loop");
        private volatile boolean closed;
        private volatile boolean ended;

        private void run() {
            while (!ended) {
                Patience.take("a task of the loop", tasks).run();
            }
        }

        @Override
        public boolean inLoop() {
            return Thread.currentThread() == thread;
        }

        @Override
        public void execute(Runnable task) {
            if (closed) {
                throw new ConnectionClosedException("the engine is closed");
            }
            tasks.add(task);
        }

        @Override
        public SourceHandle addSource(Source source, int budget) {
            throw new UnsupportedOperationException();
        }

        void end() {
            closed = true;
            tasks.add(() -> ended = true);
        }
    }

    private final ClosingLoop loop = new ClosingLoop();
    private final TeamLoop team = new TeamLoop(loop, "after the loop");
    private final CountDownLatch busy = new CountDownLatch(1);
    private final List<String> ran = new CopyOnWriteArrayList<>();

    @BeforeEach
    void start() {
        loop.thread.start();
        // the first task is still to be run when the engine closes
        loop.execute(() -> Patience.await(busy));
        assertThat(team.begin(() -> {})).isTrue();
    }

    @AfterEach
    void end() {
        busy.countDown();
        loop.end();
        Patience.join(loop.thread);
    }

    private Runnable task(String name) {
        return () -> ran.add(name + (loop.inLoop() ? " on the loop" : loop.thread.isAlive() ? " too early" : ""));
    }

    @Test
    void whatAClosedEngineRefusesRunsInItsOrderWhenTheLoopHasEnded() {
        TeamLoop.Repeated repeated = team.repeated(task("repeated"));
        team.execute(task("taken"));
        loop.closed = true;
        assertThat(team.offer(task("refused"))).isFalse();
        for (int i = 0; i < 100; i++) {
            team.execute(task("task " + i));
        }
        repeated.ask();
        repeated.ask();
        Patience.pause(Duration.ofMillis(50));
        assertThat(ran).isEmpty();
        busy.countDown();
        loop.end();
        Patience.until("all have run", () -> ran.size() >= 102);
        assertThat(ran)
                .hasSize(102)
                .startsWith("taken on the loop", "task 0", "task 1")
                .endsWith("task 99", "repeated");
    }

    @Test
    void whatIsAskedForSeveralTimesRunsOnceAndAgainIfItIsAskedForMeanwhile() {
        AtomicInteger runs = new AtomicInteger();
        TeamLoop.Repeated[] repeated = new TeamLoop.Repeated[1];
        repeated[0] = team.repeated(() -> {
            if (runs.incrementAndGet() == 1) {
                repeated[0].ask();
            }
        });
        for (int i = 0; i < 10; i++) {
            repeated[0].ask();
        }
        CountDownLatch behind = new CountDownLatch(1);
        busy.countDown();
        // those that were asked for are before the one behind which this is
        team.execute(() -> team.execute(behind::countDown));
        Patience.await(behind);
        assertThat(runs).hasValue(2);
    }
}
