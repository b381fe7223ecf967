package io.sluice.engine.memory;

import io.sluice.engine.SluiceException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The waits for the counters of a region. Thread-safe and lock-free. Without waits an update costs one read here; with
 * waits it allocates nothing unless it wakes one that leaves.
 *
 * <p>A waiter first registers and then reads the counter; an update first changes the counter and then looks for
 * waiters, so at least one of them sees the other.
 */
@SuppressWarnings("ReferenceEquality") // a wait is its own identity
final class SignalWaits {
    /** The position where {@link #look} begins. */
    static final long START = 0;

    /** Returned by {@link #look} at the end. */
    static final long END = -1;

    private static final int BUCKETS = 64;

    private final AtomicInteger count = new AtomicInteger();
    // created by the first wait: most regions have no signals
    private final AtomicReference<@Nullable AtomicReferenceArray<@Nullable Entry>> buckets = new AtomicReference<>();
    private final Runnable whenAwaited;
    private volatile @Nullable SluiceException closed;

    /**
     * Creates it without waits.
     *
     * @param whenAwaited run before the first wait registers, perhaps more than once
     */
    SignalWaits(Runnable whenAwaited) {
        this.whenAwaited = whenAwaited;
    }

    /** A wait that leaves when it ends for any reason. */
    static final class Wait extends CompletableFuture<Long> implements SignalWaiter {
        private final long atLeast;
        private volatile boolean woken;

        Wait(long atLeast) {
            this.atLeast = atLeast;
        }

        @Override
        public boolean isSatisfiedBy(long value) {
            return value >= atLeast;
        }

        @Override
        public boolean stays() {
            return false;
        }

        @Override
        public void reached(long value) {
            woken = true;
            complete(value);
        }

        @Override
        public void failed(SluiceException why) {
            woken = true;
            completeExceptionally(why);
        }
    }

    /** A list of the waits whose counters share a bucket. */
    private record Entry(
            long offset, SignalWaiter waiter, @Nullable Entry next) {}

    /** Adds a wait that leaves when it ends. */
    void enter(long offset, Wait wait) {
        add(offset, wait);
        wait.whenComplete((value, error) -> {
            if (!wait.woken) {
                leave(offset, wait);
            }
        });
        SluiceException end = closed;
        if (end != null) {
            wait.completeExceptionally(end);
        }
    }

    /**
     * Adds a waiter that stays until it leaves. It checks {@link #closedBecause()} and the counter whenever it begins
     * to wait.
     */
    void add(long offset, SignalWaiter waiter) {
        count.incrementAndGet();
        AtomicReferenceArray<@Nullable Entry> all = buckets();
        int bucket = bucket(offset);
        Entry first;
        do {
            first = all.get(bucket);
        } while (!all.compareAndSet(bucket, first, new Entry(offset, waiter, first)));
    }

    /** Returns why the counters change no more; null while they may change. */
    @Nullable
    SluiceException closedBecause() {
        return closed;
    }

    private AtomicReferenceArray<@Nullable Entry> buckets() {
        AtomicReferenceArray<@Nullable Entry> all = buckets.get();
        if (all == null) {
            // before any waiter can register: updates from then on must look here
            whenAwaited.run();
            AtomicReferenceArray<@Nullable Entry> fresh = new AtomicReferenceArray<>(BUCKETS);
            AtomicReferenceArray<@Nullable Entry> other = buckets.compareAndExchange(null, fresh);
            all = other == null ? fresh : other;
        }
        return all;
    }

    private static int bucket(long offset) {
        return (int) (offset / Long.BYTES) & (BUCKETS - 1);
    }

    void leave(long offset, SignalWaiter waiter) {
        take(bucket(offset), entry -> entry.waiter() == waiter);
    }

    /** Called when a counter has changed. */
    void changed(long offset, long value) {
        if (count.get() != 0) {
            wake(offset, value);
        }
    }

    /** Called when any of the counters may have changed. */
    void anyChanged(LongUnaryOperator counters) {
        AtomicReferenceArray<@Nullable Entry> all = buckets.get();
        if (all == null || count.get() == 0) {
            return;
        }
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            for (Entry entry = all.get(bucket); entry != null; entry = entry.next()) {
                wake(entry.offset(), counters.applyAsLong(entry.offset()));
            }
        }
    }

    /** Whether a waiter waits; one that stays and is not armed does not. */
    boolean isAwaited() {
        AtomicReferenceArray<@Nullable Entry> all = buckets.get();
        if (all == null || count.get() == 0) {
            return false;
        }
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            for (Entry entry = all.get(bucket); entry != null; entry = entry.next()) {
                if (isWaiting(entry)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isWaiting(Entry entry) {
        return entry.waiter().isSatisfiedBy(Long.MAX_VALUE);
    }

    /**
     * Reads counters with waits, at least one if there is any, and wakes the waits that they satisfy. A wait that
     * enters or leaves meanwhile may hide others from this look but not from the next.
     *
     * @param place {@link #START}, or the result of the last call
     * @param counters reads a counter
     * @param until when to stop, as {@link System#nanoTime()}
     * @return where it stopped, or {@link #END}
     */
    long look(long place, LongUnaryOperator counters, long until) {
        AtomicReferenceArray<@Nullable Entry> all = buckets.get();
        if (all == null || count.get() == 0) {
            return END;
        }
        int skipped = (int) place;
        for (int bucket = (int) (place >>> Integer.SIZE); bucket < BUCKETS; bucket++) {
            int index = 0;
            long seen = -1;
            for (Entry entry = all.get(bucket); entry != null; entry = entry.next()) {
                index++;
                if (index > skipped && entry.offset() != seen && isWaiting(entry)) {
                    seen = entry.offset();
                    wake(seen, counters.applyAsLong(seen));
                    if (System.nanoTime() - until >= 0) {
                        return ((long) bucket << Integer.SIZE) + index;
                    }
                }
            }
            skipped = 0;
        }
        return END;
    }

    private void wake(long offset, long value) {
        AtomicReferenceArray<@Nullable Entry> all = buckets.get();
        if (all == null) {
            return;
        }
        int bucket = bucket(offset);
        boolean someLeave = false;
        for (Entry entry = all.get(bucket); entry != null; entry = entry.next()) {
            if (entry.offset() == offset && entry.waiter().isSatisfiedBy(value)) {
                if (entry.waiter().stays()) {
                    entry.waiter().reached(value);
                } else {
                    someLeave = true;
                }
            }
        }
        if (someLeave) {
            take(bucket, entry -> isEndedBy(entry, offset, value)).forEach(waiter -> waiter.reached(value));
        }
    }

    private static boolean isEndedBy(Entry entry, long offset, long value) {
        return entry.offset() == offset
                && !entry.waiter().stays()
                && entry.waiter().isSatisfiedBy(value);
    }

    /** Removes some waits from a bucket. */
    private List<SignalWaiter> take(int bucket, Predicate<Entry> which) {
        AtomicReferenceArray<@Nullable Entry> all = buckets();
        while (true) {
            Entry first = all.get(bucket);
            List<SignalWaiter> taken = new ArrayList<>();
            Entry kept = null;
            for (Entry entry = first; entry != null; entry = entry.next()) {
                if (which.test(entry)) {
                    taken.add(entry.waiter());
                } else {
                    kept = new Entry(entry.offset(), entry.waiter(), kept);
                }
            }
            if (taken.isEmpty()) {
                return taken;
            }
            if (all.compareAndSet(bucket, first, kept)) {
                count.addAndGet(-taken.size());
                return taken;
            }
        }
    }

    /** Ends all waits, as the counters change no more. */
    void close(SluiceException why) {
        closed = why;
        for (int bucket = 0; count.get() != 0 && bucket < BUCKETS; bucket++) {
            take(bucket, entry -> true).forEach(waiter -> waiter.failed(why));
        }
    }
}
