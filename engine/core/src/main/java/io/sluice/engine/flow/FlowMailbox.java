package io.sluice.engine.flow;

import io.sluice.engine.transport.EventLoop;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The mailbox of a flow: what other threads hand over to the poller, the poller's next look at it, and how many of the
 * transfers that were submitted have not ended. Any thread, unless said otherwise.
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
     * @param run the flow's task: calls {@link #beginRun} and takes what is there
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

    /** Lets the poller run the flow's task soon. */
    void schedule() {
        if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
            loop.execute(run);
        }
    }

    @Override
    public void creditsReturned() {
        schedule();
    }

    /** A caller's thread has given credits of the connection back, which transfers that came meanwhile may lack. */
    void connectionCreditsReturned() {
        if (pending.get() != 0) {
            schedule();
        }
    }

    // ---- pending transfers ----

    int pending() {
        return pending.get();
    }

    /** Counts one more transfer; false, and counts none, if there are as many as may be. */
    boolean addPending() {
        if (pending.incrementAndGet() > maxPending) {
            pending.decrementAndGet();
            return false;
        }
        return true;
    }

    /** One has ended, or was not submitted after all. */
    void removePending() {
        pending.decrementAndGet();
    }

    // ---- the poller ----

    /** The task runs: what is handed over from here on schedules it again. */
    void beginRun() {
        scheduled.set(false);
    }

    /** The next that is visible, or null. */
    @Nullable
    FlowTask poll() {
        return mails.relaxedPoll();
    }

    boolean isEmpty() {
        return mails.isEmpty();
    }
}
