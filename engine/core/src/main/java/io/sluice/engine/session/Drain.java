package io.sluice.engine.session;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.flow.ConnectionEnd;
import io.sluice.engine.flow.ConnectionFlow;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.Deadline;
import java.nio.charset.StandardCharsets;

/**
 * The graceful end of a connection: it waits for transfers in flight on both sides, then the side that asked closes the
 * connection. It checks every millisecond, so that transfers need not report. It does not wait for a peer that does not
 * support draining. On the connection's loop.
 */
final class Drain extends Deadline {
    private static final long CHECK_NANOS = 1_000_000;
    private static final byte[] EMPTY = {};

    /** The connection that drains. */
    interface Owner {
        /** The connection takes no more transfers from now on. */
        void draining(ConnectionEnd why);

        /** The wait is over, because all transfers have ended or the time is up. */
        void closeDrained();

        /** Whether the connection has ended. */
        boolean isOver();
    }

    private final Owner owner;
    private final Poller loop;
    private final FramedSocket control;
    private final ConnectionFlow flow;
    private final boolean peerDrains;
    private boolean begun;
    private boolean closing;
    private long closeAt;
    private boolean askedByPeer;
    private boolean answered;
    private boolean peerDrained;

    Drain(Owner owner, Poller loop, FramedSocket control, ConnectionFlow flow, boolean peerDrains) {
        this.owner = owner;
        this.loop = loop;
        this.control = control;
        this.flow = flow;
        this.peerDrains = peerDrains;
        this.peerDrained = !peerDrains;
    }

    /**
     * This side wants the connection closed.
     *
     * @param patienceNanos the most time until then; of several calls the earliest end counts
     */
    void close(long patienceNanos) {
        begin(new ConnectionEnd(
                ConnectionEnd.Kind.CLOSED_HERE, "the connection is being shut down on this side", null));
        boolean first = !closing;
        long at = loop.now() + patienceNanos;
        closeAt = first || at - closeAt < 0 ? at : closeAt;
        closing = true;
        check();
        if (first && peerDrains && !owner.isOver()) {
            control.send(MessageType.DRAIN, "it is being shut down".getBytes(StandardCharsets.UTF_8));
            control.flushNow();
        }
    }

    /** The peer wants the connection closed. */
    void asked(String reason) {
        begin(new ConnectionEnd(ConnectionEnd.Kind.CLOSED_BY_PEER, "the peer closes the connection: " + reason, null));
        askedByPeer = true;
        check();
    }

    /**
     * The peer has no transfers in flight any more.
     *
     * @throws ProtocolException if this side did not ask it to drain
     */
    void peerDrained() {
        if (!closing) {
            throw new ProtocolException("the peer reports a drain that was not requested");
        }
        peerDrained = true;
    }

    private void begin(ConnectionEnd why) {
        if (!begun) {
            begun = true;
            owner.draining(why);
        }
    }

    @Override
    protected void expired() {
        check();
    }

    private void check() {
        boolean drained = flow.pending() == 0;
        if (drained && askedByPeer && !answered) {
            answered = true;
            control.send(MessageType.DRAINED, EMPTY);
            control.flushNow();
        }
        if (closing && ((drained && peerDrained) || loop.now() - closeAt >= 0)) {
            owner.closeDrained();
        } else if (closing || !answered) {
            loop.disarm(this);
            loop.arm(this, loop.now() + CHECK_NANOS);
        }
    }
}
