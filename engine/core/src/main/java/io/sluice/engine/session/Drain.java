package io.sluice.engine.session;

import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Deadline;

/**
 * The orderly end of a connection: transfers in flight on both sides are waited for, then the side that asked closes
 * the connection. It looks again every millisecond, so that no transfer has to report. A peer that does not know how to
 * drain is not waited for. On the connection's loop.
 */
final class Drain extends Deadline {
    private static final long CHECK_NANOS = 1_000_000;

    /** The connection that ends. */
    interface Owner {
        /** This side has no transfers in flight any more: notify the peer. */
        void tellDrained();

        /** The wait is over, because all transfers have ended or the time is up. */
        void closeDrained();
    }

    private final Owner owner;
    private final Poller loop;
    private final ConnectionFlow flow;
    private boolean closing;
    private long closeAt;
    private boolean askedByPeer;
    private boolean answered;
    private boolean peerDrained;

    Drain(Owner owner, Poller loop, ConnectionFlow flow, boolean peerDrains) {
        this.owner = owner;
        this.loop = loop;
        this.flow = flow;
        this.peerDrained = !peerDrains;
    }

    /**
     * This side wants the connection closed.
     *
     * @param patienceNanos the most time until then; the shortest counts
     * @return whether that is news
     */
    boolean close(long patienceNanos) {
        boolean first = !closing;
        long at = loop.now() + patienceNanos;
        closeAt = first || at - closeAt < 0 ? at : closeAt;
        closing = true;
        check();
        return first;
    }

    /** The peer wants the connection closed. */
    void asked() {
        askedByPeer = true;
        check();
    }

    /**
     * The peer has nothing under way any more.
     *
     * @return false if no drain was requested
     */
    boolean peerDrained() {
        peerDrained = true;
        return closing;
    }

    @Override
    protected void expired() {
        check();
    }

    private void check() {
        boolean drained = flow.pending() == 0;
        if (drained && askedByPeer && !answered) {
            answered = true;
            owner.tellDrained();
        }
        if (closing && ((drained && peerDrained) || loop.now() - closeAt >= 0)) {
            owner.closeDrained();
        } else if (closing || !answered) {
            loop.disarm(this);
            loop.arm(this, loop.now() + CHECK_NANOS);
        }
    }
}
