package io.sluice.comm.rounds;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.SluiceException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A team's loop, and what follows it: tasks that a closed engine refuses run one after another on a thread, once the loop's
 * own has ended. So a task never runs at the same time as another one, or as anything on the loop. Any thread.
 */
final class TeamLoop {
    private static final Logger LOG = LoggerFactory.getLogger(TeamLoop.class);

    private final EngineLoop loop;
    private final String name;
    private final Queue<Runnable> late = new ConcurrentLinkedQueue<>();
    private final AtomicInteger lateTasks = new AtomicInteger();
    // a first task that was taken runs, also when the engine closes
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile @Nullable Thread thread;

    /**
     * Creates it.
     *
     * @param name of the thread that follows the loop
     */
    TeamLoop(EngineLoop loop, String name) {
        this.loop = loop;
        this.name = name;
    }

    /** Runs the first task on the loop, before which nothing else is to be called; false if the engine is closed. */
    boolean begin(Runnable first) {
        boolean isTaken = offer(() -> {
            if (loop.inLoop()) {
                thread = Thread.currentThread();
            }
            begun.countDown();
            first.run();
        });
        if (!isTaken) {
            begun.countDown();
        }
        return isTaken;
    }

    /** Runs a task on the loop; false if the engine is closed. */
    boolean offer(Runnable task) {
        try {
            loop.execute(task);
            return true;
        } catch (SluiceException engineIsClosed) {
            return false;
        }
    }

    /** Runs a task on the loop, or after it. */
    void execute(Runnable task) {
        if (!offer(onLoop(task))) {
            follow(task);
        }
    }

    /** A task that a loop has accepted may run on another thread when its own has ended. */
    private Runnable onLoop(Runnable task) {
        return () -> {
            if (loop.inLoop()) {
                task.run();
            } else {
                follow(task);
            }
        };
    }

    private void follow(Runnable task) {
        late.add(task);
        if (lateTasks.getAndIncrement() == 0) {
            Thread follower = new Thread(this::runLate, name);
            follower.setDaemon(true);
            follower.start();
        }
    }

    private void runLate() {
        awaitEnd();
        do {
            try {
                late.remove().run();
            } catch (RuntimeException | Error e) {
                // the others must run all the same
                LOG.error("a task of {} threw an exception", name, e);
            }
        } while (lateTasks.decrementAndGet() > 0);
    }

    private void awaitEnd() {
        boolean hasEnded = false;
        while (!hasEnded) {
            try {
                begun.await();
                Thread ending = thread;
                if (ending != null) {
                    ending.join();
                }
                hasEnded = true;
            } catch (InterruptedException e) {
                LOG.debug("{} still waits for the loop's thread", name, e);
            }
        }
    }

    /** Runs a task again and again. */
    Repeated repeated(Runnable task) {
        return new Repeated(task);
    }

    /** A task that runs soon after it was asked for, once for several times. Asking allocates nothing. */
    final class Repeated {
        private final AtomicBoolean isAsked = new AtomicBoolean();
        private final Runnable run;
        private final Runnable runOnLoop;

        private Repeated(Runnable task) {
            run = () -> {
                // before the task: what it does not see any more is asked for again
                isAsked.set(false);
                task.run();
            };
            runOnLoop = onLoop(run);
        }

        void ask() {
            if (!isAsked.getAndSet(true) && !offer(runOnLoop)) {
                follow(run);
            }
        }
    }
}
