package io.sluice.collectives.run;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that reduce what a team's loop would else reduce itself, so that the loop moves bytes meanwhile. Any thread. */
public final class HelperThreads implements AutoCloseable {
    private static final int MOST_PARTS = 1024;

    private final int count;
    private final ThreadPoolExecutor threads;
    private volatile Runnable whenReduced = () -> {};

    /**
     * Starts threads, which do not keep the process alive.
     *
     * @param name of the team, in the names of the threads
     * @param count 1 or more
     */
    public HelperThreads(String name, int count) {
        this.count = count;
        AtomicInteger started = new AtomicInteger();
        this.threads = new ThreadPoolExecutor(
                count, count, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MOST_PARTS), task -> {
                    Thread thread = new Thread(task, "sluice-team-" + name + "-helper-" + started.getAndIncrement());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.prestartAllCoreThreads();
    }

    /** How many threads there are. */
    int count() {
        return count;
    }

    /** Sets what runs on a thread that has ended a reduction. */
    void onReduced(Runnable task) {
        whenReduced = task;
    }

    void reduced() {
        whenReduced.run();
    }

    /** Returns false if there is no room, or no thread any more. */
    boolean execute(Runnable part) {
        try {
            threads.execute(part);
            return true;
        } catch (RejectedExecutionException full) {
            return false;
        }
    }

    /** Ends the threads once they have done what was handed to them. */
    @Override
    public void close() {
        threads.shutdown();
    }
}
