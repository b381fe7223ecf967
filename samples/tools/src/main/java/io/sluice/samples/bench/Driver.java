package io.sluice.samples.bench;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a connection's transfers going, from the completion of one to the start of the next. Nothing is allocated for a
 * transfer.
 *
 * <p>One thread drives a round, and which one the round's first transfer tells. If that ends on the connection's poller,
 * all goes on there: no thread waits between, so that one core is enough. If it ends before the call that starts it has
 * returned, the transport carries transfers out in the caller's thread, and the thread that has begun the round goes on; a
 * transfer that ends on the poller nevertheless is handed over to it.
 *
 * <p>Transfers that end within the call, or otherwise follow each other fast, may take little longer than it takes to look at
 * the clock: not each of them is timed. Whichever interface they are started by, the same rate has the same rule, so that two
 * interfaces can be compared.
 */
final class Driver {
    /** Stands for what the results of elements have told. */
    static final Throwable ELEMENT_FAILED = new IllegalStateException("an element failed");

    /** Of transfers that are fast, one of so many is timed, unless there is one at a time. A prime: all slots are. */
    private static final long TIMED_OF = 7;

    /** Transfers that follow each other in less time during warm-up are fast. */
    private static final long FAST_NANOS = 10_000;

    private static final long LONGEST_NANOS = 3_600_000_000_000L;

    private final Submission submission;
    private final int differentTransfers;
    private final boolean inTurn;
    private final Slot[] slots;
    private final Content.FetchedValues fetched = new Content.FetchedValues();
    private final Histogram latencies = new Histogram(LONGEST_NANOS, 3);

    /** Slots whose transfers have ended in the calls that have started them. */
    private final ArrayDeque<Slot> endedHere;

    /** The last of the slots whose transfers have ended on the poller while another thread drives. */
    private final AtomicReference<@Nullable Slot> endedElsewhere = new AtomicReference<>();

    private CompletableFuture<Void> ended = new CompletableFuture<>();
    private @Nullable Thread beginner;

    /** Written by the one thread that finds out; others may see it late. */
    private Place place = Place.UNKNOWN;

    private int nesting;

    /** When this thread has last looked at the clock, and whether that was just now. */
    private long clock;

    private boolean clockIsRight;
    private boolean fast;
    private CompletableFuture<Void> counted = new CompletableFuture<>();
    private Counting counting = Counting.ALL;
    private volatile boolean warm;
    private long budget;
    private long submitted;
    private long durationNanos;
    private long startedAt;
    private long endedAt;
    private long transfers;
    private long succeeded;
    private long errors;
    private @Nullable Throwable firstError;
    private int outstanding;
    private int mostOutstanding;
    private volatile boolean stopped;

    /** Which transfers' ends count. */
    private enum Counting {
        /** All of the round. */
        ALL,
        /** None yet: it warms up. */
        NONE_YET,
        /** Those until the time is over. */
        NOW,
        /** None any more: what is outstanding ends. */
        NO_MORE
    }

    /** Where a round is driven. */
    private enum Place {
        /** The first transfer has not ended. */
        UNKNOWN,
        /** On the thread that has begun it. */
        BEGINNER,
        /** On the connection's poller. */
        POLLER
    }

    /**
     * A driver that does nothing yet.
     *
     * @param differentTransfers how many there are to choose from
     * @param inTurn whether each takes the next one, rather than each slot its own
     */
    Driver(Submission submission, int slots, int differentTransfers, boolean inTurn) {
        this.submission = submission;
        this.differentTransfers = differentTransfers;
        this.inTurn = inTurn;
        this.slots = new Slot[slots];
        this.endedHere = new ArrayDeque<>(slots);
        for (int i = 0; i < slots; i++) {
            this.slots[i] = new Slot(this, i);
        }
    }

    /** Makes it ready for a round that counts as a whole; call it before {@link #run()}, when the last round has ended. */
    void prepare(long mostTransfers, long nanos) {
        prepare(mostTransfers, nanos, Counting.ALL);
    }

    /**
     * Makes it ready for a round that counts from {@link #count()} on: without a pause after which the JVM would compile much
     * of it again.
     */
    void prepareWarming(long nanos) {
        prepare(Long.MAX_VALUE, nanos, Counting.NONE_YET);
    }

    private void prepare(long mostTransfers, long nanos, Counting first) {
        ended = new CompletableFuture<>();
        counted = new CompletableFuture<>();
        warm = false;
        place = Place.UNKNOWN;
        fast = false;
        counting = first;
        budget = mostTransfers;
        durationNanos = nanos;
        submitted = 0;
    }

    /** Forgets the figures of the rounds until now. */
    void reset() {
        latencies.reset();
        transfers = 0;
        succeeded = 0;
    }

    /**
     * Begins a round, and drives it to its end unless the poller does. For a thread that may be occupied for as long as the
     * round lasts, so not for pollers.
     */
    synchronized void run() {
        // Locked, as the thread that has begun the last round may not have left yet.
        beginner = Thread.currentThread();
        outstanding = slots.length;
        startedAt = System.nanoTime();
        clock = startedAt;
        clockIsRight = true;
        if (!next(slots[0])) {
            place = Place.BEGINNER;
        }
        // If the poller drives, it may be changing this now, but not to what is asked for.
        if (place == Place.BEGINNER) {
            startOthers();
            while (outstanding > 0) {
                Slot slot = awaitEnded();
                finish(slot);
                next(slot);
            }
            complete();
        }
    }

    /** Starts nothing more. Any thread. */
    void stop() {
        stopped = true;
    }

    /** A round that is warming up counts soon. Any thread. */
    void count() {
        warm = true;
    }

    /** A round that was warming up counts from now on. */
    CompletableFuture<Void> counted() {
        return counted;
    }

    /** The round's end: nothing is outstanding any more. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    private void startOthers() {
        for (int i = 1; i < slots.length; i++) {
            next(slots[i]);
        }
    }

    /** Starts a slot's next transfer, if there is one; false if not. */
    private boolean next(Slot slot) {
        if (submitted >= budget || stopped || isTimeOver()) {
            outstanding--;
            return false;
        }
        long turn = inTurn ? submitted : slot.index();
        submitted++;
        mostOutstanding = Math.max(mostOutstanding, outstanding);
        start(slot);
        try {
            submission.submit(slot, (int) (turn % differentTransfers));
            return true;
        } catch (RuntimeException e) {
            // Nothing was started, so nothing will end.
            failed(e);
            outstanding--;
            return false;
        }
    }

    private boolean isTimeOver() {
        return switch (counting) {
            // However short the time is, each slot has its turn once among all others: the first transfer goes alone.
            case ALL -> submitted > slots.length && clock - startedAt >= durationNanos;
            case NONE_YET -> {
                if (warm) {
                    clock = System.nanoTime();
                    clockIsRight = true;
                    fast = clock - startedAt < submitted * FAST_NANOS;
                    startedAt = clock;
                    counting = Counting.NOW;
                    counted.complete(null);
                }
                yield false;
            }
            case NOW -> {
                if (transfers >= slots.length && clock - startedAt >= durationNanos) {
                    counting = Counting.NO_MORE;
                    endedAt = clock;
                }
                yield counting == Counting.NO_MORE;
            }
            case NO_MORE -> true;
        };
    }

    private void start(Slot slot) {
        if ((fast || place == Place.BEGINNER) && slots.length > 1 && submitted % TIMED_OF != 0) {
            slot.startUntimed();
        } else {
            if (!clockIsRight) {
                clock = System.nanoTime();
            }
            slot.start(clock);
        }
        clockIsRight = false;
    }

    private void lookAtClockOf(Slot slot) {
        if (slot.isTimed()) {
            clock = slot.endedAt();
            clockIsRight = true;
        }
    }

    /** A slot's transfer has ended. Called by the thread that has ended it. */
    void ended(Slot slot) {
        if (Thread.currentThread().equals(beginner)) {
            place = Place.BEGINNER;
            lookAtClockOf(slot);
            endedHere.addLast(slot);
        } else if (place == Place.BEGINNER) {
            handOver(slot);
        } else {
            goOn(slot);
        }
    }

    // ---- on the poller ----

    /** Starts the next from the callback: it is for the engine to see to it that this ends and that others are served. */
    private void goOn(Slot slot) {
        boolean first = place == Place.UNKNOWN;
        place = Place.POLLER;
        nesting++;
        finish(slot);
        lookAtClockOf(slot);
        next(slot);
        if (first) {
            startOthers();
        }
        nesting--;
        if (nesting == 0 && outstanding == 0) {
            complete();
        }
    }

    private void handOver(Slot slot) {
        @Nullable Slot last;
        do {
            last = endedElsewhere.get();
            slot.precede(last);
        } while (!endedElsewhere.compareAndSet(last, slot));
        LockSupport.unpark(beginner);
    }

    // ---- on the thread that has begun the round ----

    private Slot awaitEnded() {
        for (; ; ) {
            if (endedElsewhere.getPlain() != null || endedHere.isEmpty()) {
                takeOver();
            }
            Slot slot = endedHere.pollFirst();
            if (slot != null) {
                return slot;
            }
            LockSupport.park(this);
        }
    }

    private void takeOver() {
        Slot slot = endedElsewhere.getAndSet(null);
        // Time has passed since a transfer ended here.
        clockIsRight = false;
        while (slot != null) {
            Slot before = slot.next();
            endedHere.addLast(slot);
            slot = before;
        }
    }

    // ---- on whichever drives ----

    private void finish(Slot slot) {
        boolean counts = counting == Counting.ALL || counting == Counting.NOW;
        if (counts) {
            transfers++;
        }
        submission.ended(slot);
        Throwable error = slot.error();
        if (error != null) {
            failed(error);
            return;
        }
        if (counts) {
            succeeded++;
        }
        if (counts && slot.isTimed()) {
            latencies.recordValue(Math.min(slot.endedAt() - slot.startedAt(), LONGEST_NANOS));
        }
        if (inTurn && slot.hasFetched()) {
            fetched.add(slot.fetched());
        }
    }

    private void failed(Throwable error) {
        errors++;
        if (firstError == null) {
            firstError = error;
        }
        // A failed transfer would fail again at once, in a tight loop.
        stopped = true;
    }

    /** The last that this thread does in a round: another one may begin the next at once. */
    private void complete() {
        if (counting != Counting.NO_MORE) {
            endedAt = System.nanoTime();
        }
        counted.complete(null);
        ended.complete(null);
    }

    // ---- after a round ----

    long startedAt() {
        return startedAt;
    }

    long endedAt() {
        return endedAt;
    }

    long submitted() {
        return submitted;
    }

    long transfers() {
        return transfers;
    }

    /** Those of {@link #transfers} that have not failed. */
    long succeeded() {
        return succeeded;
    }

    long errors() {
        return errors;
    }

    @Nullable
    Throwable firstError() {
        return firstError;
    }

    boolean isStopped() {
        return stopped;
    }

    int mostOutstanding() {
        return mostOutstanding;
    }

    /** The values that atomic operations fetched, if each takes the next word. */
    Content.FetchedValues fetched() {
        return fetched;
    }

    Histogram latencies() {
        return latencies;
    }
}
