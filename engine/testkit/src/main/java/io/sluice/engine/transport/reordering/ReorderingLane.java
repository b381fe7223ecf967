package io.sluice.engine.transport.reordering;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A socket, the wire behind it, and both roles on it: this side's requests and the peer's. */
final class ReorderingLane {
    /** How many packets may have begun to come while an earlier one is still held. */
    static final long MOST_OVERTAKING = DuplicateFilter.SPAN / 2;

    /** How much may come beyond what the wire holds at most before receiving stops. */
    static final int STAGING_BYTES = 128 * 1024;

    private static final int RECEIVES_A_CALL = 16;

    private final ReorderingEndpoint endpoint;
    private final EndpointContext context;
    private final EventLoop loop;
    private final int descriptor;
    private final int index;
    private final EventLoop.Watch watch;
    private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, Long.BYTES);
    private final Wire wire;
    private final DuplicateFilter filter = new DuplicateFilter();
    private final PacketAssembler assembler;
    private final OutboundPackets out = new OutboundPackets();
    private final Initiator initiator;
    private final Target target;
    private final Runnable turn = this::turn;

    private boolean turnScheduled;
    private boolean awaitingRoom;
    private boolean broken;
    private boolean closed;
    private long lastProgress;
    private int lastUnacknowledged;

    private final Deadline nextDelivery = new Deadline() {
        @Override
        protected void expired() {
            scheduleTurn();
        }
    };

    ReorderingLane(ReorderingEndpoint endpoint, EndpointContext context, int descriptor, int index, Disorder disorder) {
        this.endpoint = endpoint;
        this.context = context;
        this.loop = context.loop();
        this.descriptor = descriptor;
        this.index = index;
        this.wire = new Wire(disorder);
        this.assembler = new PacketAssembler(packet -> wire.carry(packet, loop.now()));
        this.initiator = new Initiator(out, endpoint::completed);
        this.target = new Target(context, out);
        this.lastProgress = loop.now();
        Sockets.setNoDelay(descriptor, true);
        int buffer = context.options().socketBufferBytes();
        if (buffer > 0) {
            Sockets.setSendBuffer(descriptor, buffer);
            Sockets.setReceiveBuffer(descriptor, buffer);
        }
        try {
            this.watch = loop.watch(descriptor, this::ready);
        } catch (RuntimeException e) {
            Sockets.close(descriptor);
            throw e;
        }
    }

    int index() {
        return index;
    }

    /** The bytes that its wire holds. */
    long heldBytes() {
        return wire.heldBytes();
    }

    void post(WorkRequest request) {
        if (!hasWork()) {
            // what was idle has made no progress because it had nothing to do
            progress();
        }
        initiator.post(request);
        scheduleTurn();
    }

    // ---- receiving ----

    private void ready(boolean readable, boolean writable) {
        if (writable && awaitingRoom) {
            awaitingRoom = false;
        }
        if (readable && isLive()) {
            receive();
        }
        scheduleTurn();
    }

    private void receive() {
        try {
            for (int i = 0; i < RECEIVES_A_CALL && mayReceive(); i++) {
                long received = Sockets.receive(descriptor, staging.address(), STAGING_BYTES);
                if (received == -Errno.EAGAIN) {
                    return;
                }
                if (received < 0) {
                    throw new SocketFailedException("receiving failed: " + Errno.message((int) -received));
                }
                if (received == 0) {
                    throw new SocketFailedException("the peer closed the socket");
                }
                context.count(WireCounter.RECEIVED, received);
                loop.beginBatch();
                progress();
                assembler.take(staging, received);
            }
        } catch (ProtocolException e) {
            fail(e);
        } catch (SocketFailedException e) {
            fail(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            // a packet may be half read, so nothing that follows could be understood
            fail(new ConnectionLostException("lane " + index + ": an unexpected error: " + e, e));
        }
    }

    private boolean mayReceive() {
        return !wire.isFull() && assembler.begun() - filter.firstMissing() < MOST_OVERTAKING;
    }

    // ---- once a duty cycle ----

    private void scheduleTurn() {
        if (!turnScheduled && isLive()) {
            turnScheduled = true;
            loop.atEndOfCycle(turn);
        }
    }

    private void turn() {
        turnScheduled = false;
        try {
            deliver();
            if (isLive() && !awaitingRoom) {
                awaitingRoom = out.send(descriptor, this::sent) == OutboundPackets.Sent.AWAITING_ROOM;
            }
        } catch (SluiceException e) {
            fail(e);
        } catch (SocketFailedException e) {
            fail(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            // a packet may have been carried out by half
            fail(new ConnectionLostException("lane " + index + ": an unexpected error: " + e, e));
        }
        if (isLive()) {
            watch.interest(mayReceive(), awaitingRoom);
            if (!wire.isEmpty()) {
                loop.arm(nextDelivery, wire.nextDue());
            }
            endpoint.roomMade();
        }
    }

    private void deliver() {
        Packet packet;
        while (isLive() && (packet = wire.deliver(loop.now())) != null) {
            if (!filter.isFirst(packet.sequence())) {
                continue;
            }
            progress();
            switch (packet.kind()) {
                case DATA, ANSWER -> initiator.deliver(packet);
                case WRITE, READ, PUT, SIGNAL, FETCH_ADD, COMPARE_AND_SWAP -> target.deliver(packet);
            }
            if (out.size() > 2 * ReorderingEndpoint.MAX_REQUESTS) {
                throw new ProtocolException("the peer asks for more than " + ReorderingEndpoint.MAX_REQUESTS
                        + " answers on a lane without taking them");
            }
        }
    }

    // ---- life ----

    void regionClosing() {
        target.regionClosing();
    }

    boolean holdsClosedLease() {
        return target.holdsClosedLease();
    }

    private boolean hasWork() {
        return !initiator.isIdle()
                || !out.isEmpty()
                || !wire.isEmpty()
                || assembler.isInsidePacket()
                || target.isAwaitingPackets();
    }

    private void sent(long bytes) {
        context.count(WireCounter.SENT, bytes);
        progress();
    }

    private void progress() {
        lastProgress = loop.now();
    }

    boolean isStuck(long now, long timeoutNanos) {
        if (broken || !hasWork()) {
            return false;
        }
        // what the kernel has taken may still be on its way over a slow path, for longer than the time-out
        int unacknowledged = Sockets.unacknowledgedBytes(descriptor);
        if (unacknowledged >= 0 && unacknowledged < lastUnacknowledged) {
            progress();
        }
        lastUnacknowledged = unacknowledged;
        return now - lastProgress > timeoutNanos;
    }

    private boolean isLive() {
        return !closed && !broken;
    }

    private void fail(String reason) {
        fail(new ConnectionLostException("lane " + index + ": " + reason));
    }

    /** Nothing more is sent or received; the engine closes the lane when it has found out why it broke. */
    private void fail(SluiceException error) {
        if (isLive()) {
            broken = true;
            watch.cancel();
            loop.disarm(nextDelivery);
            endpoint.laneFailed(error);
        }
    }

    void close() {
        if (closed) {
            return;
        }
        closed = true;
        watch.cancel();
        loop.disarm(nextDelivery);
        Sockets.close(descriptor);
        wire.clear();
        out.clear();
        target.close();
        initiator.close();
    }
}
