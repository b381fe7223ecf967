package io.sluice.engine.progress;

import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A poller as seen by stages above the engine. It is one of the poller's sources only while a stage's source has work,
 * so that sources without work are not polled and do not keep the poller from asking the kernel.
 */
public final class PollerLoop implements EngineLoop, EventLoop.Source {
    private static final Logger LOG = LoggerFactory.getLogger(PollerLoop.class);

    private final EventLoop loop;
    private final Owner owner;
    private final long stallNanos;
    private volatile @Nullable String closed;

    // the loop's
    private final List<PolledSource> all = new ArrayList<>();
    private final List<PolledSource> active = new ArrayList<>();
    private boolean polled;
    private @Nullable PolledSource slow;
    private long slowNanos;

    /** The poller. */
    interface Owner {
        /** Whether the calling thread is the poller's. */
        boolean inLoop();

        /** Called when something delayed the poller, or exceeded its budget. */
        void reportStall(long took, String cause);
    }

    PollerLoop(EventLoop loop, Owner owner, long stallNanos) {
        this.loop = loop;
        this.owner = owner;
        this.stallNanos = stallNanos;
    }

    // ---- any thread ----

    @Override
    public boolean inLoop() {
        return owner.inLoop();
    }

    @Override
    public void execute(Runnable task) {
        ensureOpen();
        loop.execute(Objects.requireNonNull(task, "task"));
    }

    /**
     * Runs the engine's calls of user code on the loop, also while the engine closes.
     *
     * @param task must not block
     */
    public void handOver(Runnable task) {
        loop.execute(task);
    }

    @Override
    public SourceHandle addSource(Source source, int budget) {
        Objects.requireNonNull(source, "source");
        if (budget < 1) {
            throw new IllegalArgumentException("a source's budget is at least 1, not " + budget);
        }
        ensureOpen();
        PolledSource added = new PolledSource(this, source, budget);
        loop.execute(() -> admit(added));
        return added;
    }

    private void ensureOpen() {
        String why = closed;
        if (why != null) {
            throw new ConnectionClosedException(why);
        }
    }

    /**
     * Refuses further tasks and sources, and removes the existing sources.
     *
     * @param why the reason, passed to the sources
     */
    public void close(String why) {
        closed = why;
        loop.execute(this::removeAll);
    }

    // ---- the loop ----

    private void admit(PolledSource added) {
        String why = closed;
        if (why != null) {
            added.remove(new ConnectionClosedException(why));
        } else if (!added.isRemoved()) {
            all.add(added);
            activate(added);
        }
    }

    /** Polls a source from the next look at the sources on. */
    void activate(PolledSource source) {
        if (source.list()) {
            active.add(source);
            if (!polled) {
                polled = true;
                loop.addSource(this);
            }
        }
    }

    void arm(Deadline deadline, long at) {
        loop.arm(deadline, at);
    }

    void disarm(Deadline deadline) {
        loop.disarm(deadline);
    }

    void removed(PolledSource source) {
        all.remove(source);
    }

    private void removeAll() {
        String why = String.valueOf(closed);
        for (PolledSource source : List.copyOf(all)) {
            source.remove(new ConnectionClosedException(why));
        }
    }

    @Override
    public int poll() {
        int work = 0;
        // those that are activated meanwhile go behind these, and none but this takes any out
        for (int i = active.size() - 1; i >= 0; i--) {
            PolledSource source = active.get(i);
            long begun = System.nanoTime();
            work += source.poll();
            long took = System.nanoTime() - begun;
            if (took > stallNanos && took > slowNanos) {
                slow = source;
                slowNanos = took;
            }
            if (!source.staysListed()) {
                active.remove(i);
            }
        }
        if (active.isEmpty()) {
            polled = false;
            loop.removeSource(this);
        }
        return work;
    }

    @Override
    public boolean arm() {
        return active.isEmpty();
    }

    /** Returns which source made the cycle too long, if one did. */
    String blame() {
        PolledSource source = slow;
        if (source == null) {
            return "";
        }
        String blamed = "; " + source + " took " + slowNanos / 1_000_000 + " ms of it";
        slow = null;
        slowNanos = 0;
        return blamed;
    }

    void overran(PolledSource source, int done, int budget) {
        owner.reportStall(
                Math.max(0, System.nanoTime() - loop.now()),
                source + " did " + done + " at once, and its budget is " + budget);
    }

    void failed(PolledSource source, Throwable error) {
        LOG.error("{} threw an exception, and is removed", source, error);
    }
}
