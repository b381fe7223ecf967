package io.sluice.reactor.recovery;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * Runs tasks one at a time, in the order of submission, on the submitting thread that finds none running. A task
 * submitted by another task runs after it.
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
            // Thrown by a subscriber, or by Reactor for an error that it considers fatal. Later tasks must still run.
            LOG.error("A subscriber of a reconnecting connection threw; the others continue", e);
        }
    }
}
