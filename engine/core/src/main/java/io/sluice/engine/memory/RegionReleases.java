package io.sluice.engine.memory;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Releases the memory of closed regions, on threads that may block. What waits for a device has threads apart: the driver of a
 * GPU unpins nothing while a kernel runs, and other memory does not wait for that. Any thread.
 */
public final class RegionReleases {
    private static final int DEVICE_THREADS = 8;
    private static final long IDLE_SECONDS = 1;

    private final Executor housekeeping;
    private final Duration longest;
    private final ThreadPoolExecutor devices;
    private final Set<CompletableFuture<Void>> pending = ConcurrentHashMap.newKeySet();

    /**
     * Creates it without threads of its own.
     *
     * @param housekeeping releases memory that no device holds up
     * @param longest how long the close of a region waits for a device
     * @param name prefix of the threads' names
     */
    public RegionReleases(Executor housekeeping, Duration longest, String name) {
        this.housekeeping = housekeeping;
        this.longest = longest;
        // a poller hands work over, so that the queue must not lock
        this.devices = new ThreadPoolExecutor(
                DEVICE_THREADS,
                DEVICE_THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedTransferQueue<>(),
                Thread.ofPlatform().daemon().name(name + "-release-", 0).factory());
        devices.allowCoreThreadTimeOut(true);
    }

    /** Releases a region's memory. */
    void start(LocalRegion region, Runnable giveBack) {
        Executor executor = housekeeping;
        if (region.waitsForDevice()) {
            executor = devices;
            CompletableFuture<Void> end = region.closedWithin(longest);
            pending.add(end);
            end.whenComplete((nothing, error) -> pending.remove(end));
        }
        try {
            executor.execute(giveBack);
        } catch (RejectedExecutionException | OutOfMemoryError noThread) {
            // a region that was being registered while the engine closed, or a process that may not have more threads
            giveBack.run();
        }
    }

    /** Waits for the regions that are being released: each takes the longest time at most. Blocks. */
    public void close() {
        devices.shutdown();
        CompletableFuture.allOf(pending.toArray(CompletableFuture<?>[]::new))
                .exceptionally(error -> null)
                .join();
    }
}
