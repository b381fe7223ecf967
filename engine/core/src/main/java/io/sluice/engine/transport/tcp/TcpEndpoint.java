package io.sluice.engine.transport.tcp;

import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.Integrity;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TlsOptions;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.PageLists;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.SecureStream;
import io.sluice.engine.transport.SocketLanes;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One side of a connection: its lanes, and the choice of a lane for each work request. */
final class TcpEndpoint implements Endpoint, SocketLanes, TransportMessages, PageLists, RegionAttachments {
    private static final Logger LOG = LoggerFactory.getLogger(TcpEndpoint.class);

    /** The most unanswered requests of this side on one lane, even if the peer allows more. */
    private static final int MAX_REQUESTS = 4096;

    private static final byte VERSION = 1;
    private static final int OFFER_BYTES = 15;
    // version, lanes, requests a lane: an offer of version 1 ends here, without flags and window
    private static final int SHORTEST_OFFER_BYTES = 6;
    // flags
    private static final int CHECKSUMS = 1;
    private static final int LANE_FAILOVER = 1 << 1;
    private static final int TLS_ON_LANES = 1 << 2;
    private static final int PAGES = 1 << 3;
    private static final int STAGED = 1 << 4;
    private static final int MAX_LANES = 16;

    private final EndpointContext context;
    private final LoopScratch scratch;
    private @Nullable TcpLane[] lanes = {};
    private int opened;
    private final ServedWindow served;
    private boolean secured;
    private int peerMaxRequests;
    // the limit that the peer set on this side's unanswered reads, and the current count
    private long peerWindowBytes;
    private long askedBytes;
    private int next;
    private boolean failover;
    private boolean pages;
    private boolean staged;
    private boolean refusedPost;
    // requests of lost lanes, posted before new ones
    private final ArrayDeque<WorkRequest> displaced = new ArrayDeque<>();
    private boolean closed;
    // read by any thread
    private volatile int lanesUp;
    private volatile int lanesDown;

    TcpEndpoint(EndpointContext context, LoopScratch scratch) {
        this.context = context;
        this.scratch = scratch;
        this.served = new ServedWindow(
                requestsALane() * context.options().lanes(),
                context.options().servedWindowBytes(),
                this::servedRoomMade);
    }

    private int requestsALane() {
        return Math.max(
                1, context.options().maxServedRequests() / context.options().lanes());
    }

    @Override
    public byte[] offer() {
        return ByteBuffer.allocate(OFFER_BYTES)
                .put(VERSION)
                .put((byte) context.options().lanes())
                .putInt(requestsALane())
                .put((byte) flags())
                .putLong(context.options().servedWindowBytes())
                .array();
    }

    private int flags() {
        return (context.integrity() == Integrity.CRC32C ? CHECKSUMS : 0)
                | LANE_FAILOVER
                | (wantsTls() ? TLS_ON_LANES : 0)
                | PAGES
                | STAGED;
    }

    private boolean wantsTls() {
        TlsOptions tls = context.options().tls();
        return tls != null && tls.data() && context.secured();
    }

    @Override
    public void begin(byte[] peerOffer) {
        // a later version may append to its offer, and never removes a field
        ByteBuffer offer = ByteBuffer.wrap(peerOffer);
        if (offer.remaining() < SHORTEST_OFFER_BYTES || offer.get() < VERSION) {
            context.failed(new ProtocolException("the peer's tcp offer is damaged"));
            return;
        }
        int count = Math.min(offer.get(), context.options().lanes());
        peerMaxRequests = Math.min(offer.getInt(), MAX_REQUESTS);
        int flags = offer.hasRemaining() ? offer.get() : 0;
        if ((flags & CHECKSUMS) != (flags() & CHECKSUMS)) {
            context.failed(new ProtocolException(
                    "the peer's tcp offer contradicts the bootstrap: integrity " + context.integrity()));
            return;
        }
        // a lane may fail without the connection
        failover = (flags & flags() & LANE_FAILOVER) != 0;
        pages = (flags & PAGES) != 0;
        staged = (flags & STAGED) != 0;
        peerWindowBytes = offer.remaining() >= Long.BYTES ? offer.getLong() : Long.MAX_VALUE;
        if (count < 1 || count > MAX_LANES || peerMaxRequests < 1 || peerWindowBytes < 1) {
            context.failed(new ProtocolException("the peer's tcp offer is out of range"));
            return;
        }
        // checksums if either side asks for them; the offer came over the secured control channel, so it is authentic
        secured = context.secured() && (wantsTls() || (flags & TLS_ON_LANES) != 0);
        lanes = new @Nullable TcpLane[count];
        if (context.initiator()) {
            context.openLanes(count, secured);
        }
    }

    @Override
    public void laneOpened(int index, int descriptor) {
        opened(index, descriptor, null);
    }

    @Override
    public void laneOpened(int index, int descriptor, SecureStream stream) {
        opened(index, descriptor, stream);
    }

    private void opened(int index, int descriptor, @Nullable SecureStream stream) {
        if (closed || index >= lanes.length || lanes[index] != null) {
            Sockets.close(descriptor);
            return;
        }
        if (secured != (stream != null)) {
            Sockets.close(descriptor);
            context.failed(new ProtocolException(
                    secured
                            ? "the peer opened a plain lane, although TLS was agreed on"
                            : "the peer opened a lane with TLS, although none was agreed on"));
            return;
        }
        try {
            lanes[index] = new TcpLane(this, context, scratch, served, descriptor, index, peerMaxRequests, stream);
        } catch (RuntimeException | Error e) {
            Sockets.close(descriptor);
            throw e;
        }
        lanesUp = ++opened;
        if (opened == lanes.length) {
            context.established();
        }
    }

    @Override
    public boolean takesPages(RemoteKey remote) {
        return pages;
    }

    /** A peer of an earlier version would prefer this path to one that reaches the region directly. */
    @Override
    public boolean reaches(ExportedRegion region) {
        return staged || region.memory().isHost();
    }

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        if (closed || opened < lanes.length || !displaced.isEmpty()) {
            refusedPost = true;
            return 0;
        }
        for (int i = 0; i < count; i++) {
            WorkRequest request = batch[from + i];
            TcpLane lane = mayAsk(request) ? leastLoaded() : null;
            if (lane == null) {
                refusedPost = true;
                return i;
            }
            if (request.operation() == WorkRequest.Opcode.READ) {
                askedBytes += request.length();
            }
            lane.post(request);
        }
        return count;
    }

    /** The lane with the fewest bytes in flight, round-robin among equals, or null if none has room. */
    private @Nullable TcpLane leastLoaded() {
        TcpLane best = null;
        for (int i = 0; i < lanes.length; i++) {
            int index = next + i;
            TcpLane lane = lanes[index < lanes.length ? index : index - lanes.length];
            if (lane != null && lane.hasRoom() && (best == null || lane.load() < best.load())) {
                best = lane;
            }
        }
        next = next + 1 < lanes.length ? next + 1 : 0;
        return best;
    }

    /** Whether the peer has room for one more answer; a single answer may have any size. */
    private boolean mayAsk(WorkRequest request) {
        return request.operation() != WorkRequest.Opcode.READ
                || askedBytes == 0
                || request.length() <= peerWindowBytes - askedBytes;
    }

    /** The peer has answered a read. */
    void answered(WorkRequest request) {
        if (request.operation() == WorkRequest.Opcode.READ) {
            askedBytes -= request.length();
        }
    }

    /** The peer has received answers, so that reading from it may resume. */
    private void servedRoomMade() {
        for (TcpLane lane : lanes) {
            if (lane != null) {
                lane.readAgain();
            }
        }
    }

    /** A lane has room again. */
    void roomMade() {
        postDisplaced();
        if (refusedPost && !closed && displaced.isEmpty()) {
            refusedPost = false;
            context.postable();
        }
    }

    private void postDisplaced() {
        while (!closed && !displaced.isEmpty()) {
            TcpLane lane = leastLoaded();
            if (lane == null) {
                return;
            }
            lane.post(displaced.removeFirst());
        }
    }

    /** The socket of a lane has failed. The connection continues on the other lanes, if any. */
    void laneLost(TcpLane lane, SluiceException error) {
        if (closed) {
            return;
        }
        if (failover && opened == lanes.length && openLanes() > 1 && !lane.isDeviceAtWork()) {
            LOG.info("{}: {}; the other lanes take over", context, error.getMessage());
            fence(lane);
        } else {
            lane.fail(error);
        }
    }

    private int openLanes() {
        int open = 0;
        for (TcpLane lane : lanes) {
            if (lane != null && lane.isOpen()) {
                open++;
            }
        }
        return open;
    }

    private void fence(TcpLane lane) {
        LaneFence fence = lane.fence();
        countDown();
        context.send(fence.toBytes());
    }

    private void countDown() {
        int down = lanesDown + 1;
        lanesDown = down;
        lanesUp = opened - down;
    }

    /** The peer has closed its end of a lane, on its own account or because this side did. */
    @Override
    public void received(ByteBuffer message) {
        LaneFence peer = LaneFence.read(message);
        TcpLane lane = failover && peer.lane() >= 0 && peer.lane() < lanes.length ? lanes[peer.lane()] : null;
        if (lane == null || opened < lanes.length) {
            throw new ProtocolException("the peer sent a message about lane " + peer.lane() + ", which does not exist");
        }
        if (closed) {
            return;
        }
        if (lane.isOpen()) {
            if (lane.isDeviceAtWork()) {
                lane.fail(new ConnectionLostException("the peer has closed lane " + peer.lane()
                        + " while a device copies for it, so that no other lane can take over"));
                return;
            }
            fence(lane);
        }
        lane.settle(peer, displaced);
        if (!closed && openLanes() == 0) {
            context.failed(
                    new ConnectionLostException("lane " + peer.lane() + " was the last one, and the peer closed it"));
            return;
        }
        roomMade();
    }

    /** A lane broke in a way that breaks the connection. */
    void laneFailed(SluiceException error) {
        if (!closed) {
            countDown();
            context.failed(error);
        }
    }

    @Override
    public void regionClosing() {
        for (TcpLane lane : lanes) {
            if (lane != null) {
                lane.regionClosing();
            }
        }
    }

    @Override
    public boolean holdsClosedLease() {
        for (TcpLane lane : lanes) {
            if (lane != null && lane.holdsClosedLease()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public @Nullable String stuckLane(long now, long timeoutNanos) {
        for (TcpLane lane : lanes) {
            if (lane == null) {
                continue;
            }
            String reason = "lane " + lane.index() + " made no progress for " + timeoutNanos / 1_000_000
                    + " ms, though the peer is alive";
            if (lane.isFenceOverdue(now, timeoutNanos)) {
                return reason + ": its fence report is missing";
            }
            boolean isDeviceOverdue = lane.isDeviceOverdue(now, timeoutNanos);
            if (isDeviceOverdue || lane.isStuck(now, timeoutNanos)) {
                if (isDeviceOverdue || lane.isDeviceAtWork()) {
                    return "a device of this side has copied nothing for lane " + lane.index() + " for "
                            + timeoutNanos / 1_000_000 + " ms: is it held up by other work?";
                }
                if (!failover || openLanes() < 2) {
                    return reason;
                }
                LOG.info("{}: {}; the other lanes take over", context, reason);
                fence(lane);
            }
        }
        return null;
    }

    @Override
    public int lanes(PathState state) {
        return switch (state) {
            case UP -> lanesUp;
            case HEALING -> 0;
            case DOWN -> lanesDown;
        };
    }

    @Override
    public void peerClosed() {
        for (TcpLane lane : lanes) {
            if (lane != null) {
                lane.peerClosed();
            }
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (TcpLane lane : lanes) {
            if (lane != null) {
                lane.close();
            }
        }
        WorkRequest request;
        while ((request = displaced.pollFirst()) != null) {
            // some bytes of a write may have been stored before its lane failed
            context.completed(request, CompletionStatus.FLUSHED);
        }
    }

    @Override
    public boolean isQuiescent() {
        // apart from devices only system calls of this loop touch memory, and none runs between two tasks
        for (TcpLane lane : lanes) {
            if (lane != null && !lane.isReleased()) {
                return false;
            }
        }
        return closed;
    }
}
