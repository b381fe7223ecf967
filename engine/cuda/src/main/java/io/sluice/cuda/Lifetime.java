package io.sluice.cuda;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The life of what belongs to the driver: once it is closed it is given back, as soon as the GPU is through with it and no thread
 * holds it. Another thread waits for that and gives it back, as the driver may wait for all kernels of the process. Any thread.
 */
final class Lifetime {
    private static final long SHORTEST_NANOS = 20_000;
    private static final long LONGEST_NANOS = 1_000_000;

    private final String what;
    private final BooleanSupplier isThrough;
    private final Runnable giveBack;
    // one until the GPU is through with it after its close, and one for each thread that holds it
    private final AtomicInteger holders = new AtomicInteger(1);
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final CompletableFuture<Void> released = new CompletableFuture<>();

    /**
     * Begins one.
     *
     * @param what it is, in words
     * @param isThrough whether the GPU does not use it any more; asked by one thread, after the close
     * @param giveBack may block
     */
    Lifetime(String what, BooleanSupplier isThrough, Runnable giveBack) {
        this.what = what;
        this.isThrough = isThrough;
        this.giveBack = giveBack;
    }

    String what() {
        return what;
    }

    boolean isOpen() {
        return open.get();
    }

    /** Keeps it from being given back; false if that has begun. A closed one may be held, while the GPU uses it. */
    boolean retain() {
        int now;
        do {
            now = holders.get();
            if (now == 0) {
                return false;
            }
        } while (!holders.compareAndSet(now, now + 1));
        return true;
    }

    void release() {
        if (holders.decrementAndGet() == 0) {
            start(this::giveBackNow);
        }
    }

    /** Retains it for new use. */
    void use() {
        if (!retain()) {
            throw new GpuClosedException(what);
        }
        if (!isOpen()) {
            release();
            throw new GpuClosedException(what);
        }
    }

    void close() {
        if (open.compareAndSet(true, false)) {
            start(this::end);
        }
    }

    CompletableFuture<Void> released() {
        return released.copy();
    }

    private static void start(Runnable task) {
        Thread.ofPlatform().daemon().name("sluice-cuda-end").start(task);
    }

    private void end() {
        long nap = SHORTEST_NANOS;
        while (!isThrough.getAsBoolean()) {
            LockSupport.parkNanos(nap);
            nap = Math.min(2 * nap, LONGEST_NANOS);
        }
        if (holders.decrementAndGet() == 0) {
            giveBackNow();
        }
    }

    private void giveBackNow() {
        try {
            giveBack.run();
            released.complete(null);
        } catch (RuntimeException | Error e) {
            released.completeExceptionally(e);
        }
    }
}
