package io.sluice.engine.flow;

import io.sluice.engine.transport.EventLoop;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The mailbox of a flow: the tasks that other threads hand over to the poller, the schedule of the poller's next run,
 * and the number of pending transfers. Thread-safe unless a method says otherwise.
 */
final class FlowMailbox implements CreditWaiter {
    private final EventLoop loop;
    private final Runnable run;
    private final int maxPending;
    private final MpscUnboundedAtomicArrayQueue<FlowTask> mails = new MpscUnboundedAtomicArrayQueue<>(256);
    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicBoolean scheduled = new AtomicBoolean();

    /**
     * Empty.
     *
     * @param loop runs the task
     * @param run the flow's task: calls {@link #beginRun} and takes all tasks
     * @param maxPending the most transfers that have not ended
     */
    FlowMailbox(EventLoop loop, Runnable run, int maxPending) {
        this.loop = loop;
        this.run = run;
        this.maxPending = maxPending;
    }

    void handOver(FlowTask mail) {
        mails.offer(mail);
        schedule();
    }

    /** Makes the poller run the flow's task soon. */
    void schedule() {
        if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
            loop.execute(run);
        }
    }

    @Override
    public void creditsReturned() {
        schedule();
    }

    /**
     * Called when a caller's thread has released credits of the connection that transfers submitted meanwhile may need.
     */
    void connectionCreditsReturned() {
        if (pending.get() != 0) {
            schedule();
        }
    }

    // ---- pending transfers ----

    int pending() {
        return pending.get();
    }

    /** Counts one more transfer; returns false, and counts none, if the limit is reached. */
    boolean addPending() {
        if (pending.incrementAndGet() > maxPending) {
            pending.decrementAndGet();
            return false;
        }
        return true;
    }

    /** Counts one transfer less, which has ended or was not submitted after all. */
    void removePending() {
        pending.decrementAndGet();
    }

    // ---- the poller ----

    /** Called at the start of the task: tasks handed over from now on schedule it again. */
    void beginRun() {
        scheduled.set(false);
    }

    /** Returns the next visible task, or null. */
    @Nullable
    FlowTask poll() {
        return mails.relaxedPoll();
    }

    boolean isEmpty() {
        return mails.isEmpty();
    }
}
