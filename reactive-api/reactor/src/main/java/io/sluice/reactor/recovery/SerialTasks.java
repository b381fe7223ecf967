package io.sluice.reactor.recovery;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * Runs tasks one at a time, in the order in which they come, on whichever thread finds none running. A task that another one
 * hands over runs after it.
 */
final class SerialTasks {
    private static final Logger LOG = Loggers.getLogger(SerialTasks.class);

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger outstanding = new AtomicInteger();

    void run(Runnable task) {
        tasks.add(task);
        if (outstanding.getAndIncrement() > 0) {
            return;
        }
        do {
            Runnable next = tasks.poll();
            if (next != null) {
                execute(next);
            }
        } while (outstanding.decrementAndGet() > 0);
    }

    private static void execute(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | LinkageError | StackOverflowError e) {
            // A subscriber's own, as Reactor throws on errors that it takes for fatal. Later tasks must still run.
            LOG.error("A subscriber of a reconnecting connection threw; the others go on", e);
        }
    }
}
