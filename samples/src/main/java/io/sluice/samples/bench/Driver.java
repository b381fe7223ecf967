package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import java.util.concurrent.CompletableFuture;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a connection's transfers going, from the completion of one to the start of the next, all on the connection's
 * poller: no thread waits between, so that one core is enough, and nothing is allocated for a transfer.
 */
final class Driver {

    /** Stands for what the results of elements have told. */
    static final Throwable ELEMENT_FAILED = new IllegalStateException("an element failed");

    private static final long LONGEST_NANOS = 3_600_000_000_000L;
    private static final int DIGITS = 3;

    private final Connection connection;
    private final Submission submission;
    private final int differentTransfers;
    private final boolean inTurn;
    private final Slot[] slots;
    private final FetchedValues fetched = new FetchedValues();
    private final Histogram latencies = new Histogram(LONGEST_NANOS, DIGITS);
    private CompletableFuture<Void> ended = new CompletableFuture<>();
    private long budget;
    private long submitted;
    private long durationNanos;
    private long startedAt;
    private long endedAt;
    private long transfers;
    private long errors;
    private @Nullable Throwable firstError;
    private int outstanding;
    private int mostOutstanding;
    private volatile boolean stopped;

    /**
     * A driver that does nothing yet.
     *
     * @param connection whose transfers
     * @param submission starts one of them
     * @param slots how many it keeps going
     * @param differentTransfers how many there are to choose from
     * @param inTurn whether each takes the next one, rather than each slot its own
     */
    Driver(Connection connection, Submission submission, int slots, int differentTransfers, boolean inTurn) {
        this.connection = connection;
        this.submission = submission;
        this.differentTransfers = differentTransfers;
        this.inTurn = inTurn;
        this.slots = new Slot[slots];
        for (int i = 0; i < slots; i++) {
            this.slots[i] = new Slot(this, i);
        }
    }

    /** Makes it ready for a round; call it before {@link #start()}, when the last round has ended. */
    void prepare(long mostTransfers, long nanos) {
        ended = new CompletableFuture<>();
        budget = mostTransfers;
        durationNanos = nanos;
        submitted = 0;
    }

    /** Forgets the figures of the rounds until now. */
    void reset() {
        latencies.reset();
        transfers = 0;
    }

    /** Starts a round, on the poller. */
    void start() {
        startedAt = System.nanoTime();
        outstanding = slots.length;
        for (Slot slot : slots) {
            next(slot, startedAt);
        }
    }

    /** Starts nothing more. Any thread. */
    void stop() {
        stopped = true;
    }

    /** The round's end: nothing is outstanding any more. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    private void next(Slot slot, long now) {
        if (submitted >= budget || stopped || (submitted >= slots.length && now - startedAt >= durationNanos)) {
            retire();
            return;
        }
        long turn = inTurn ? submitted : slot.index();
        submitted++;
        mostOutstanding = Math.max(mostOutstanding, outstanding);
        slot.start(now);
        try {
            submission.submit(slot, (int) (turn % differentTransfers));
        } catch (RuntimeException e) {
            // Nothing was started, so nothing will end.
            failed(e);
            retire();
        }
    }

    void ended(Slot slot, @Nullable Throwable error) {
        long now = System.nanoTime();
        transfers++;
        if (error == null) {
            latencies.recordValue(Math.min(now - slot.startedAt(), LONGEST_NANOS));
        } else {
            failed(error);
        }
        next(slot, now);
    }

    /** An atomic operation has found this. */
    void fetched(long previous) {
        if (inTurn) {
            fetched.add(previous);
        }
    }

    private void failed(Throwable error) {
        errors++;
        if (firstError == null) {
            firstError = error;
        }
        // What has gone wrong once would do so again, as fast as it can.
        stopped = true;
    }

    private void retire() {
        outstanding--;
        if (outstanding == 0) {
            endedAt = System.nanoTime();
            ended.complete(null);
        }
    }

    /** The round never began. */
    void abandon(Throwable error) {
        failed(error);
        ended.complete(null);
    }

    // ---- after a round ----

    Connection connection() {
        return connection;
    }

    long startedAt() {
        return startedAt;
    }

    long endedAt() {
        return endedAt;
    }

    /** Transfers of the last round. */
    long submitted() {
        return submitted;
    }

    long transfers() {
        return transfers;
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

    /** What atomic operations have found, if each takes the next word. */
    FetchedValues fetched() {
        return fetched;
    }

    Histogram latencies() {
        return latencies;
    }
}
