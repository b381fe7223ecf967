package io.sluice.engine.control;

import io.sluice.engine.transport.EventLoop;

/** Limits how much a peer may use in a duty cycle, so that the loop's other connections get their turn. */
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
            left = most;
        }
        return left;
    }

    public void spend(long part) {
        left -= part;
    }
}
