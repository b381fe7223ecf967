package io.sluice.collectives.run;

import io.sluice.engine.TooManyPendingException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/** What was called and the loop has not taken, and how much has not ended. Any thread adds; the rest is the loop's. */
final class Submissions {
    private final String name;
    private final int most;
    private final MpscAtomicArrayQueue<Pending> queue;
    private final AtomicInteger pending = new AtomicInteger();

    /**
     * Creates it.
     *
     * @param name the team, for messages
     * @param most how many may have been called and not ended
     */
    Submissions(String name, int most) {
        this.name = name;
        this.most = most;
        this.queue = new MpscAtomicArrayQueue<>(most);
    }

    /**
     * Adds what was called.
     *
     * @param onLoop whether this is the loop's thread
     */
    void add(Pending run, long timeoutNanos, boolean onLoop) {
        if (pending.incrementAndGet() > most) {
            pending.decrementAndGet();
            throw new TooManyPendingException(most + " collectives of " + name + " are pending");
        }
        run.called(System.nanoTime(), timeoutNanos, onLoop);
        if (!queue.offer(run)) {
            throw new AssertionError("the queue holds as many as may be pending");
        }
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    @Nullable
    Pending poll() {
        return queue.poll();
    }

    /** One that was added has ended. */
    void ended() {
        pending.decrementAndGet();
    }
}
