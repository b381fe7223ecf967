package io.sluice.cuda;

import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives memory and streams back to the driver, one after the other. The driver first waits for all that runs on the GPU, a kernel of
 * the user's too, so that no poller does it, nor the thread that maps. It ends when it is idle.
 */
final class ReleaseThread implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReleaseThread.class);
    private static final long IDLE_SECONDS = 1;
    private static final long LAST_WORK_SECONDS = 10;
    private static final long LONGEST_AT_WORK_NANOS = 5_000_000_000L;
    private static final long LOOK_NANOS = 50_000;

    private final ThreadPoolExecutor executor;

    ReleaseThread() {
        // a poller hands work over, so that the queue must not lock
        executor = new ThreadPoolExecutor(
                1,
                1,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedTransferQueue<>(),
                Thread.ofPlatform().daemon().name("sluice-cuda-releases").factory());
        executor.allowCoreThreadTimeOut(true);
    }

    /** Runs what may block. Not after {@link #close}. */
    void execute(Runnable task) {
        executor.execute(task);
    }

    /** Waits until a GPU is through with something; false if that takes too long. On a thread that may block. */
    static boolean await(BooleanSupplier isThrough) {
        long began = System.nanoTime();
        while (!isThrough.getAsBoolean()) {
            if (System.nanoTime() - began > LONGEST_AT_WORK_NANOS) {
                return false;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return true;
    }

    /** Waits for what was given to it, but not for ever: what a kernel holds up is given back when that has ended. */
    @Override
    public void close() {
        executor.shutdown();
        try {
            if (!executor.awaitTermination(LAST_WORK_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a GPU is held up by a kernel: what the closed engine had on it is given back once that ends");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
