package io.sluice.cuda;

import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Carries out what takes the driver milliseconds, for pollers that must not wait: one after the other. It ends when it is idle. To map
 * memory and to pin some takes two: the driver pins nothing while a kernel runs, and mappings do not wait for that.
 */
final class MappingThread implements AutoCloseable {
    private static final long IDLE_SECONDS = 1;
    private static final long LAST_WORK_SECONDS = 30;

    private final ThreadPoolExecutor executor;

    MappingThread(String name) {
        // a poller hands work over, so that the queue must not lock
        executor = new ThreadPoolExecutor(
                1,
                1,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedTransferQueue<>(),
                Thread.ofPlatform().daemon().name(name).factory());
        executor.allowCoreThreadTimeOut(true);
    }

    void execute(Runnable task) {
        executor.execute(task);
    }

    /** Waits until nothing of it runs any more, after {@link #close}. */
    void awaitEnd() {
        executor.close();
    }

    /** Takes nothing more, and waits for what was given to it, but not for ever. */
    @Override
    public void close() {
        executor.shutdown();
        try {
            if (!executor.awaitTermination(LAST_WORK_SECONDS, TimeUnit.SECONDS)) {
                executor.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
