package io.sluice.engine.control;

import io.sluice.engine.transport.EventLoop;

/**
 * Limits how much a connection handles for its peer in a duty cycle. The connections that are busy divide the most that
 * the loop handles, so that a peer gains nothing by opening many.
 */
public final class CycleBudget {
    private final EventLoop loop;
    private final long most;
    private long cycle = System.nanoTime();
    private long left;

    public CycleBudget(EventLoop loop, long most) {
        this.loop = loop;
        this.most = most;
        this.left = most;
    }

    /** The budget left in this cycle; none at 0 or below. */
    public long left() {
        if (cycle != loop.now()) {
            cycle = loop.now();
            left = Math.max(1, most / loop.sharers());
        }
        return left;
    }

    public void spend(long part) {
        left -= part;
    }
}
