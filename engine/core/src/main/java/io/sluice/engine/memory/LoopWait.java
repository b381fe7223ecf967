package io.sluice.engine.memory;

import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A reusable wait whose callback runs on a loop. Its state is one word, which every thread changes by compare-and-set:
 * the number of armings and the phase, so that an update that saw one arming never ends the next. The thread that ends
 * an arming hands it over to the loop; until the loop has taken it nothing changes.
 *
 * <p>It is armed first and then reads the counter, like each wait of {@link SignalWaits}.
 */
final class LoopWait implements SignalWait, SignalWaiter, Runnable {
    private static final long IDLE = 0;
    private static final long ARMING = 1;
    private static final long ARMED = 2;
    private static final long ENDED = 3;
    private static final long PHASES = 3;
    private static final long ONE_ARMING = PHASES + 1;

    private final LocalRegion region;
    private final SignalWaits waits;
    private final long at;
    private final Executor loop;
    private final SignalCallback callback;
    private final AtomicLong state = new AtomicLong();
    private volatile long atLeast;
    private volatile boolean closed;
    // written by the thread that ended the arming, for the loop
    private long seen;
    private @Nullable SluiceException error;

    /**
     * Creates a wait that is not armed.
     *
     * @param at the counter's offset in the region
     * @param loop never runs a task inside the call, and never refuses one
     */
    LoopWait(LocalRegion region, long at, Executor loop, SignalCallback callback) {
        this.region = region;
        this.waits = region.words().waits();
        this.at = at;
        this.loop = loop;
        this.callback = callback;
    }

    private static long phase(long state) {
        return state & PHASES;
    }

    @Override
    public void arm(long value) {
        long idle = state.get();
        if (closed || phase(idle) != IDLE || !state.compareAndSet(idle, idle + ARMING)) {
            throw new IllegalStateException(
                    closed ? "the wait is closed" : "the wait is armed, or its callback is still to come");
        }
        atLeast = value;
        state.set(idle + ONE_ARMING + ARMED);
        look();
        if (closed) {
            // by another thread, which may have removed it before an update could find it
            disarm();
        }
    }

    private void look() {
        SluiceException end = waits.closedBecause();
        if (end != null) {
            failed(end);
        } else if (!region.acquire()) {
            failed(region.closedError());
        } else {
            try {
                reached(region.words().get(at));
            } catch (IllegalStateException e) {
                failed(new SluiceException("words of " + region + " cannot be read", e));
            } finally {
                region.release();
            }
            region.words().awaited();
        }
    }

    @Override
    public boolean disarm() {
        long armed = state.get();
        return phase(armed) == ARMED && state.compareAndSet(armed, armed - ARMED);
    }

    @Override
    public void close() {
        closed = true;
        disarm();
        waits.leave(at, this);
    }

    @Override
    public boolean stays() {
        return true;
    }

    @Override
    public boolean isSatisfiedBy(long value) {
        return phase(state.get()) == ARMED && value >= atLeast;
    }

    @Override
    public void reached(long value) {
        long armed = state.get();
        if (phase(armed) == ARMED && value >= atLeast && end(armed)) {
            seen = value;
            loop.execute(this);
        }
    }

    @Override
    public void failed(SluiceException why) {
        long armed = state.get();
        if (phase(armed) == ARMED && end(armed)) {
            seen = 0;
            error = why;
            loop.execute(this);
        }
    }

    private boolean end(long armed) {
        return state.compareAndSet(armed, armed - ARMED + ENDED);
    }

    /** On the loop. */
    @Override
    public void run() {
        long value = seen;
        SluiceException why = error;
        error = null;
        state.set(state.get() - ENDED);
        callback.reached(this, value, why);
    }
}
