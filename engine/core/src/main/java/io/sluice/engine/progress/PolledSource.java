package io.sluice.engine.progress;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.transport.Deadline;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A source of a stage's work. Other threads signal and close it; everything else happens on the loop. */
final class PolledSource implements EngineLoop.SourceHandle, Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(PolledSource.class);

    private final PollerLoop loop;
    private final EngineLoop.Source source;
    private final int budget;
    // called once, on the thread that adds it, so that an exception is not thrown on the loop
    private final String name;
    private final AtomicBoolean signalled = new AtomicBoolean();

    // the loop's
    private boolean listed;
    private boolean more;
    private boolean removed;
    private final Deadline later = new Later();

    PolledSource(PollerLoop loop, EngineLoop.Source source, int budget) {
        this.loop = loop;
        this.source = source;
        this.budget = budget;
        this.name = "source " + source;
    }

    private final class Later extends Deadline {
        @Override
        protected void expired() {
            activate();
        }
    }

    // ---- any thread ----

    @Override
    public void signal() {
        if (loop.inLoop()) {
            activate();
        } else if (!signalled.getAndSet(true)) {
            loop.handOver(this);
        }
    }

    @Override
    public void close() {
        if (loop.inLoop()) {
            remove(null);
        } else {
            loop.handOver(() -> remove(null));
        }
    }

    // ---- the loop ----

    @Override
    public void signalAt(long nanoTime) {
        if (!loop.inLoop()) {
            throw new IllegalStateException("a time is set on the loop of the source alone");
        }
        if (!removed) {
            loop.arm(later, nanoTime);
        }
    }

    /** The source was signalled. */
    @Override
    public void run() {
        // a signal that found it set is read here, with what its thread did before
        signalled.getAndSet(false);
        activate();
    }

    private void activate() {
        if (!removed) {
            // also inside its own poll, which may have looked before
            more = true;
            loop.activate(this);
        }
    }

    /** Adds the source to the list of those with work; returns false if it is already there. */
    boolean list() {
        boolean enters = !listed;
        listed = true;
        return enters;
    }

    /** Whether it has more work; if not, it leaves the list. */
    boolean staysListed() {
        listed = more && !removed;
        return listed;
    }

    int poll() {
        if (removed) {
            return 0;
        }
        more = false;
        int done;
        try {
            done = source.poll(budget);
        } catch (Throwable e) {
            loop.failed(this, e);
            remove(e);
            return 1;
        }
        if (done > budget) {
            loop.overran(this, done, budget);
        }
        more |= done >= budget;
        return Math.max(0, done);
    }

    boolean isRemoved() {
        return removed;
    }

    void remove(@Nullable Throwable cause) {
        if (removed) {
            return;
        }
        removed = true;
        loop.disarm(later);
        loop.removed(this);
        try {
            source.removed(cause);
        } catch (Throwable e) {
            LOG.error("{} threw an exception when it was removed", this, e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
