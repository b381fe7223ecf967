package io.sluice.comm.rounds;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.SluiceException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
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

    /** Remembers the thread. Called by the first task. */
    void enter() {
        if (loop.inLoop()) {
            thread = Thread.currentThread();
        }
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
        Thread ending = thread;
        while (ending != null && ending.isAlive()) {
            try {
                ending.join();
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
