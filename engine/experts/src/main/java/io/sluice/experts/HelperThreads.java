package io.sluice.experts;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Threads that work on the rows of a call together with the loop, which begins the work, takes part, and looks whether
 * all is done. One work at a time; nothing is allocated for it.
 */
final class HelperThreads implements AutoCloseable {
    /** Work on rows in any order. Any thread; several at once. */
    interface Rows {
        void run(int first, int count);
    }

    // some microseconds, in which the next work often comes
    private static final int SPINS = 200;
    private static final int NUMBER_SHIFT = 32;
    private static final long ALL_TAKEN = Integer.MAX_VALUE;

    private final Helper[] helpers;
    private final Runnable whenDone;
    // above the number of the work, below how many of its rows are taken
    private final AtomicLong taken = new AtomicLong();
    // rows that are not done
    private final AtomicInteger left = new AtomicInteger();
    private volatile @Nullable Throwable error;
    private volatile boolean closed;
    // written while no rows can be taken
    private Rows rows = (first, count) -> {};
    private int total;
    private int share;
    // the loop's
    private boolean begun;

    /**
     * Starts threads, which do not keep the process alive.
     *
     * @param team its name, in the names of the threads
     * @param count 1 or more
     * @param whenDone what a thread runs that has done the last rows of a work
     */
    HelperThreads(String team, int count, Runnable whenDone) {
        this.whenDone = whenDone;
        this.helpers = new Helper[count];
        for (int i = 0; i < count; i++) {
            helpers[i] = new Helper("sluice-experts-" + team + "-helper-" + i);
        }
        for (Helper helper : helpers) {
            helper.thread.start();
        }
    }

    private final class Helper implements Runnable {
        final Thread thread;
        private volatile boolean parked;

        Helper(String name) {
            thread = new Thread(this, name);
            thread.setDaemon(true);
        }

        @Override
        public void run() {
            int idle = 0;
            while (!closed) {
                if (take() > 0) {
                    idle = 0;
                    if (left.get() == 0) {
                        whenDone.run();
                    }
                } else if (++idle < SPINS) {
                    Thread.onSpinWait();
                } else {
                    // the loop looks whether this is set after it has published a work
                    parked = true;
                    if (!closed && !hasRows()) {
                        LockSupport.park(HelperThreads.this);
                    }
                    parked = false;
                    idle = 0;
                }
            }
        }

        void wake() {
            if (parked) {
                LockSupport.unpark(thread);
            }
        }
    }

    private boolean hasRows() {
        return (int) taken.get() < total;
    }

    /** Takes a slice and does it; returns how many rows it had, 0 if all are taken. Any thread. */
    int take() {
        while (true) {
            long now = taken.get();
            int first = (int) now;
            Rows work = rows;
            int count = Math.min(share, total - first);
            if (count <= 0) {
                return 0;
            }
            if (taken.compareAndSet(now, now + count)) {
                try {
                    work.run(first, count);
                } catch (RuntimeException | Error e) {
                    error = e;
                }
                left.addAndGet(-count);
                return count;
            }
        }
    }

    // ---- the loop ----

    /** Begins a work; false if another one is not done. */
    boolean begin(Rows work, int count, int rowsOfSlice) {
        if (begun) {
            return false;
        }
        begun = true;
        // a thread that has looked at the last work cannot take rows by what it saw of that
        long number = ((taken.get() >>> NUMBER_SHIFT) + 1) << NUMBER_SHIFT;
        taken.set(number | ALL_TAKEN);
        rows = work;
        total = count;
        share = rowsOfSlice;
        error = null;
        left.set(count);
        taken.set(number);
        for (Helper helper : helpers) {
            helper.wake();
        }
        return true;
    }

    /** Ends a work if all of it is done; throws what a thread has thrown. */
    boolean end() {
        if (left.get() > 0) {
            return false;
        }
        begun = false;
        Throwable thrown = error;
        if (thrown instanceof Error failed) {
            throw failed;
        }
        if (thrown != null) {
            throw (RuntimeException) thrown;
        }
        return true;
    }

    /** Lets no rows be taken any more, and waits for some microseconds until no thread accesses memory. */
    void abandon() {
        long now = taken.get();
        while ((int) now < total) {
            if (taken.compareAndSet(now, now - (int) now + total)) {
                left.addAndGet((int) now - total);
                break;
            }
            now = taken.get();
        }
        while (left.get() > 0) {
            Thread.onSpinWait();
        }
        begun = false;
    }

    /** Ends the threads. Any thread. */
    @Override
    public void close() {
        closed = true;
        for (Helper helper : helpers) {
            LockSupport.unpark(helper.thread);
        }
    }
}
