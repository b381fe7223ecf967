package io.sluice.engine.transport.reordering;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.SocketLanes;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** One side of a connection: its lanes, and which of them a work request takes. */
final class ReorderingEndpoint implements Endpoint, SocketLanes {
    /** How many requests of one side may be outstanding. */
    static final int MAX_REQUESTS = 4096;

    private static final byte VERSION = 1;
    private static final int OFFER_BYTES = 2 + Long.BYTES;
    private static final int MAX_LANES = 16;

    private final EndpointContext context;
    private long seed;
    private @Nullable ReorderingLane[] lanes = {};
    private volatile int opened;
    private int outstanding;
    private long posted;
    private boolean refusedPost;
    private boolean closed;

    /**
     * Makes one.
     *
     * @param context what the engine gives it
     * @param seed of the connection, if this side makes it; else the peer's offer tells
     */
    ReorderingEndpoint(EndpointContext context, long seed) {
        this.context = context;
        this.seed = seed;
    }

    @Override
    public byte[] offer() {
        return ByteBuffer.allocate(OFFER_BYTES)
                .put(VERSION)
                .put((byte) context.options().lanes())
                .putLong(seed)
                .array();
    }

    @Override
    public void begin(byte[] peerOffer) {
        ByteBuffer offer = ByteBuffer.wrap(peerOffer);
        if (offer.remaining() != OFFER_BYTES || offer.get() != VERSION) {
            context.failed(new ProtocolException("the peer's reordering offer is damaged"));
            return;
        }
        int count = Math.min(offer.get(), context.options().lanes());
        if (count < 1 || count > MAX_LANES) {
            context.failed(new ProtocolException("the peer's reordering offer is out of range"));
            return;
        }
        if (!context.initiator()) {
            seed = offer.getLong();
        }
        lanes = new @Nullable ReorderingLane[count];
        if (context.initiator()) {
            context.openLanes(count);
        }
    }

    @Override
    public void laneOpened(int index, int descriptor) {
        if (closed || index >= lanes.length || lanes[index] != null) {
            Sockets.close(descriptor);
            return;
        }
        long side = context.initiator() ? 0 : 1;
        Disorder disorder = new Disorder(Disorder.derive(Disorder.derive(seed, index), side));
        lanes[index] = new ReorderingLane(this, context, descriptor, index, disorder);
        int now = opened + 1;
        opened = now;
        if (now == lanes.length) {
            context.established();
        }
    }

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        int room = closed || opened < lanes.length ? 0 : MAX_REQUESTS - outstanding;
        int accepted = Math.min(room, count);
        for (int i = 0; i < accepted; i++) {
            outstanding++;
            nextLane().post(batch[from + i]);
        }
        refusedPost = refusedPost || accepted < count;
        return accepted;
    }

    /** Any, so that even requests of one transfer overtake each other. */
    private ReorderingLane nextLane() {
        int index = (int) Long.remainderUnsigned(Disorder.derive(seed, posted), lanes.length);
        posted++;
        ReorderingLane lane = lanes[index];
        if (lane == null) {
            throw new IllegalStateException("lane " + index + " is not open");
        }
        return lane;
    }

    void completed(WorkRequest request, CompletionStatus status) {
        outstanding--;
        context.completed(request, status);
    }

    /** Requests may have completed. */
    void roomMade() {
        if (refusedPost && !closed && outstanding < MAX_REQUESTS) {
            refusedPost = false;
            context.postable();
        }
    }

    /** A lane is broken, and with it the connection. */
    void laneFailed(SluiceException error) {
        if (!closed) {
            context.failed(error);
        }
    }

    /** The bytes that the wires of all lanes hold. */
    long heldBytes() {
        long sum = 0;
        for (ReorderingLane lane : lanes) {
            sum += lane == null ? 0 : lane.heldBytes();
        }
        return sum;
    }

    @Override
    public void regionClosing() {
        for (ReorderingLane lane : lanes) {
            if (lane != null) {
                lane.regionClosing();
            }
        }
    }

    @Override
    public boolean holdsClosedLease() {
        for (ReorderingLane lane : lanes) {
            if (lane != null && lane.holdsClosedLease()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public @Nullable String stuckLane(long now, long timeoutNanos) {
        for (ReorderingLane lane : lanes) {
            if (lane != null && lane.isStuck(now, timeoutNanos)) {
                return "lane " + lane.index() + " made no progress for " + timeoutNanos / 1_000_000
                        + " ms, though the peer is alive";
            }
        }
        return null;
    }

    @Override
    public int lanes(PathState state) {
        return state == PathState.UP && !closed ? opened : 0;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (ReorderingLane lane : lanes) {
            if (lane != null) {
                lane.close();
            }
        }
    }

    @Override
    public boolean isQuiescent() {
        // memory is touched by this loop's own copies alone, and none is under way between two tasks
        return closed;
    }
}
