package io.sluice.cuda;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A lock for operations of a GPU, of tens of microseconds each. A thread that waits looks for it, sleeps, and looks again. While one
 * looks, none that comes later goes before it, so that a thread that takes the lock again and again lets others in. While all sleep that
 * thread goes on, as a GPU that is left idle until another has woken up turns to other processes. Not reentrant.
 */
final class WordLock {
    private static final long LOOK_NANOS = 50_000;
    // while a GPU does not answer
    private static final long LONGEST_NAP_NANOS = 1_000_000;

    private final AtomicReference<@Nullable Thread> owner = new AtomicReference<>();
    private final AtomicInteger lookers = new AtomicInteger();

    void lock() {
        Thread me = Thread.currentThread();
        if (lookers.get() == 0 && owner.compareAndSet(null, me)) {
            return;
        }
        for (long nap = LOOK_NANOS; !look(me); nap = Math.min(2 * nap, LONGEST_NAP_NANOS)) {
            LockSupport.parkNanos(nap);
        }
    }

    private boolean look(Thread me) {
        lookers.incrementAndGet();
        try {
            long began = System.nanoTime();
            do {
                if (owner.get() == null && owner.compareAndSet(null, me)) {
                    return true;
                }
                Thread.onSpinWait();
            } while (System.nanoTime() - began < LOOK_NANOS);
            return false;
        } finally {
            lookers.decrementAndGet();
        }
    }

    void unlock() {
        owner.set(null);
    }
}
