package io.sluice.engine.transport.verbs;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExposedRegion;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.verbs.ControlMessage.Fence;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** One side of a connection: its lanes, which of them a work request takes, and what becomes of it when one breaks. */
@SuppressWarnings("ReferenceEquality") // a lane is its own identity
final class VerbsEndpoint implements Endpoint {
    private static final long FIRST_REVIVAL_NANOS = 2_000_000_000L;
    private static final long LAST_REVIVAL_NANOS = 60_000_000_000L;

    private final EndpointContext context;
    private final VerbsOptions options;
    private final List<Rail> rails;
    private final LoopLanes shared;
    private final LaneTarget target;
    private final LaneNotifications notifications;
    private final Map<Long, VerbsRemoteKey> attached = new HashMap<>();
    // what a lane that broke has not brought to its end
    private final ArrayDeque<WorkRequest> again = new ArrayDeque<>();
    private final Map<WorkRequest, Integer> failures = new IdentityHashMap<>();
    private final Deadline revival = new Deadline() {
        @Override
        protected void expired() {
            reviveLanes();
        }
    };
    private VerbsLane[] lanes = {};
    private int peerRails;
    private int next;
    private long againSince;
    private long revivalNanos = FIRST_REVIVAL_NANOS;
    private boolean refusedPost;
    private boolean refusedNotification;
    private boolean begun;
    private final Runnable tellPostable = this::tellPostable;
    private final Runnable tellNotificationsSendable = this::tellNotificationsSendable;
    private final Runnable postBatch = this::postBatch;
    private boolean closed;

    VerbsEndpoint(EndpointContext context, VerbsOptions options, List<Rail> rails, LoopLanes shared) {
        this.context = context;
        this.options = options;
        this.rails = rails;
        this.shared = shared;
        this.target = new LaneTarget(context);
        this.notifications = new LaneNotifications(context, this);
    }

    // ---- setting up ----

    @Override
    public byte[] offer() {
        // each rail has a lane at least
        List<Rail> usable = rails.stream().filter(Rail::isUsable).toList();
        if (usable.isEmpty()) {
            throw new ConnectFailedException("no port of " + rails + " is active (ibv_devinfo shows why)");
        }
        int count = Math.max(context.options().lanes(), usable.size());
        List<VerbsLane> made = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                Rail rail = usable.get(i % usable.size());
                made.add(new VerbsLane(this, shared, options, i, shared.groupOn(rail)));
            }
        } catch (SluiceException e) {
            made.forEach(VerbsLane::close);
            throw e;
        }
        lanes = made.toArray(VerbsLane[]::new);
        List<OfferedRail> ports = rails.stream()
                .map(rail -> new OfferedRail(
                        rail.gid().bytes(),
                        rail.port().lid(),
                        options.pathMtu(rail.port()),
                        rail.port().ethernet(),
                        Math.min(255, rail.limits().readDepthAsTarget()),
                        rail.landmark(),
                        rail.landmarkKey()))
                .toList();
        List<OfferedLane> queuePairs = made.stream().map(VerbsLane::offer).toList();
        return new VerbsOffer(LaneGroup.CREDITS, ports, queuePairs).toBytes();
    }

    @Override
    public void begin(byte[] peerOffer) {
        if (closed) {
            return;
        }
        try {
            VerbsOffer peer = VerbsOffer.read(peerOffer);
            peerRails = peer.rails().size();
            int count = Math.min(lanes.length, peer.lanes().size());
            for (int i = count; i < lanes.length; i++) {
                lanes[i].close();
            }
            lanes = Arrays.copyOf(lanes, count);
            int credits = Math.min(peer.credits(), LaneGroup.CREDITS);
            for (int i = 0; i < count; i++) {
                OfferedLane offered = peer.lanes().get(i);
                lanes[i].connect(offered, peer.rails().get(offered.rail()), credits);
            }
        } catch (SluiceException e) {
            context.failed(e);
            return;
        }
        begun = true;
        context.established();
    }

    @Override
    public void laneOpened(int index, int descriptor) {
        // verbs asks for no sockets
        Sockets.close(descriptor);
    }

    int randomSequence() {
        return ThreadLocalRandom.current().nextInt();
    }

    // ---- regions ----

    @Override
    public byte[] keysOf(long handle, ExposedRegion region) {
        RegisteredMemory registration = region.registration();
        if (!(registration instanceof RailRegistration ofRails)) {
            throw new IllegalStateException("the region is not registered");
        }
        return VerbsRemoteKey.write(region, ofRails);
    }

    @Override
    public RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        VerbsRemoteKey key = VerbsRemoteKey.read(handle, descriptor, keys, peerRails);
        attached.put(handle, key);
        return key;
    }

    @Override
    public void detached(RemoteKey key) {
        // the peer's adapter would go on to let this side in
        ((VerbsRemoteKey) key).end();
        attached.remove(key.handle());
    }

    @Override
    public void exposureEnded(long handle) {
        if (begun && !closed) {
            context.send(ControlMessage.ended(handle));
        }
    }

    @Override
    public void regionClosing() {
        // the adapter needs no lease: the end of the registration stops it
    }

    @Override
    public boolean holdsClosedLease() {
        return false;
    }

    // ---- posting ----

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        int accepted = 0;
        if (!closed && again.isEmpty()) {
            while (accepted < count && place(batch[from + accepted])) {
                accepted++;
            }
        }
        if (accepted < count) {
            refusedPost = true;
        }
        postBatch();
        return accepted;
    }

    private void postBatch() {
        for (VerbsLane lane : lanes) {
            if (lane.isOpen() && lane.waitingMessages() > 0) {
                lane.sendMessages();
            }
        }
        shared.batch().post();
    }

    /** Gives a request to a lane; false if none has room. */
    private boolean place(WorkRequest request) {
        VerbsRemoteKey remote = (VerbsRemoteKey) request.remote();
        VerbsRemoteKey signal = request.hasSignal() ? (VerbsRemoteKey) request.signal() : null;
        if (remote.hasEnded() || (signal != null && signal.hasEnded())) {
            completed(request, CompletionStatus.UNKNOWN_REGION);
            return true;
        }
        // the words of an adapter's domain are changed by one adapter alone
        boolean byAdapter = (request.operation().isAtomic() && remote.hasAdapterAtomics())
                || (signal != null && signal.hasAdapterAtomics());
        if (byAdapter && isMisaligned(request, remote, signal)) {
            completed(request, CompletionStatus.MISALIGNED);
            return true;
        }
        VerbsLane lane = leastLoaded(byAdapter);
        if (lane == null) {
            if (byAdapter && !isAnyLaneUpToFirstRail()) {
                completed(request, CompletionStatus.UNSUPPORTED);
                return true;
            }
            return false;
        }
        lane.post(request);
        return true;
    }

    /** The lane with the fewest bytes under way, in turn among equals, or null if none has room. */
    private @Nullable VerbsLane leastLoaded(boolean onFirstRail) {
        VerbsLane best = null;
        for (int i = 0; i < lanes.length; i++) {
            int at = next + i;
            VerbsLane lane = lanes[at < lanes.length ? at : at - lanes.length];
            if (lane.hasRoom()
                    && (!onFirstRail || lane.peerRail() == 0)
                    && (best == null || lane.load() < best.load())) {
                best = lane;
            }
        }
        next = next + 1 < lanes.length ? next + 1 : 0;
        return best;
    }

    /** An adapter would refuse the word, and break the lane. */
    private static boolean isMisaligned(WorkRequest request, VerbsRemoteKey remote, @Nullable VerbsRemoteKey signal) {
        long address = signal == null ? remote.address(request.remoteOffset()) : signal.address(request.signalOffset());
        return address % WorkRequest.WORD_BYTES != 0;
    }

    private boolean isAnyLaneUpToFirstRail() {
        for (VerbsLane lane : lanes) {
            if (lane.peerRail() == 0 && !lane.isDown()) {
                return true;
            }
        }
        return false;
    }

    /** Counts a failure of a request that may be posted again; gives how many there were before. */
    int failed(WorkRequest request) {
        int before = failures.getOrDefault(request, 0);
        failures.put(request, before + 1);
        return before;
    }

    void completed(WorkRequest request, CompletionStatus status) {
        if (!failures.isEmpty()) {
            failures.remove(request);
        }
        context.completed(request, status);
    }

    /** A lane has room again. */
    void roomMade() {
        if (closed) {
            return;
        }
        if (!again.isEmpty()) {
            placeAgain();
        }
        if (refusedPost && again.isEmpty()) {
            refusedPost = false;
            // not at once: this may be said in the middle of completions, which go on using the lane
            shared.loop().execute(tellPostable);
        }
        if (refusedNotification) {
            refusedNotification = false;
            shared.loop().execute(tellNotificationsSendable);
        }
    }

    private void tellPostable() {
        if (!closed) {
            context.postable();
        }
    }

    private void tellNotificationsSendable() {
        if (!closed) {
            context.notificationsSendable();
        }
    }

    // ---- lanes that break ----

    /** What a lane has not brought to its end. It is fenced, so each may be carried out again. */
    void again(List<WorkRequest> requests) {
        if (!requests.isEmpty() && again.isEmpty()) {
            againSince = shared.loop().now();
        }
        again.addAll(requests);
    }

    private void placeAgain() {
        boolean placed = false;
        WorkRequest request;
        while ((request = again.peekFirst()) != null && place(request)) {
            again.removeFirst();
            count(WireCounter.RESENT_CHUNKS, 1);
            placed = true;
        }
        if (placed) {
            shared.loop().atEndOfCycle(postBatch);
        }
    }

    /** A lane has gone down or come back. */
    void laneChanged() {
        if (closed) {
            return;
        }
        boolean someDown = false;
        boolean allDown = true;
        for (VerbsLane lane : lanes) {
            someDown |= lane.isDown();
            allDown &= lane.isDown();
        }
        if (allDown) {
            failed("every rail to the peer has failed");
            return;
        }
        if (someDown && context.initiator()) {
            shared.loop().arm(revival, shared.loop().now() + revivalNanos);
        } else if (!someDown) {
            revivalNanos = FIRST_REVIVAL_NANOS;
        }
        roomMade();
        tellNotificationsSendable();
    }

    private void reviveLanes() {
        if (closed) {
            return;
        }
        revivalNanos = Math.min(revivalNanos * 2, LAST_REVIVAL_NANOS);
        boolean someDown = false;
        for (VerbsLane lane : lanes) {
            lane.revive();
            someDown |= lane.isDown();
        }
        if (someDown) {
            shared.loop().arm(revival, shared.loop().now() + revivalNanos);
        }
    }

    /** Whether a lane on another path could take over. */
    boolean hasOpenLaneBeside(VerbsLane lane) {
        return deputyFor(lane) != null;
    }

    /** An open lane on another path, or null. */
    @Nullable
    VerbsLane deputyFor(VerbsLane lane) {
        for (VerbsLane other : lanes) {
            boolean otherPath = other.rail() != lane.rail() || other.peerRail() != lane.peerRail();
            if (otherPath && other.isOpen()) {
                return other;
            }
        }
        return null;
    }

    /** A lane that carries what another cannot: on another path if one is open, else any that is not down; or null. */
    @Nullable
    VerbsLane carrierFor(VerbsLane lane) {
        VerbsLane best = deputyFor(lane);
        for (VerbsLane other : lanes) {
            if (other != lane && !other.isDown() && (best == null || (!best.isOpen() && other.isOpen()))) {
                best = other;
            }
        }
        return best;
    }

    VerbsLane lane(int index) {
        if (index >= lanes.length) {
            throw new ProtocolException("the peer names lane " + index + " of " + lanes.length);
        }
        return lanes[index];
    }

    void recountAnswers() {
        for (VerbsLane lane : lanes) {
            lane.forgetAnswers();
        }
        for (VerbsLane lane : lanes) {
            lane.countAnswers();
        }
    }

    void send(byte[] message) {
        if (!closed) {
            context.send(message);
        }
    }

    @Override
    public void received(ByteBuffer message) {
        ControlMessage.need(message, 1);
        byte type = message.get();
        switch (type) {
            case ControlMessage.FENCE -> {
                Fence fence = Fence.read(message);
                VerbsLane lane = lane(fence.lane());
                if (fence.refused() >= 0) {
                    send(ControlMessage.refused(fence.lane(), context.exposed(fence.refused()) != null));
                }
                lane.peerFenced(fence);
            }
            case ControlMessage.READY -> {
                ControlMessage.need(message, 5);
                lane(Byte.toUnsignedInt(message.get())).peerReady(message.getInt());
            }
            case ControlMessage.ENDED -> {
                ControlMessage.need(message, 8);
                VerbsRemoteKey key = attached.remove(message.getLong());
                if (key != null) {
                    key.end();
                }
            }
            case ControlMessage.REFUSED -> {
                ControlMessage.need(message, 2);
                lane(Byte.toUnsignedInt(message.get())).peerRefused(message.get() != 0);
            }
            default -> throw new ProtocolException("a message of type " + type + " of the peer's verbs endpoint");
        }
    }

    // ---- messages ----

    LaneTarget target() {
        return target;
    }

    LaneNotifications notifications() {
        return notifications;
    }

    @Override
    public NotificationSender notificationSender() {
        return notifications;
    }

    Message message(int type, VerbsLane origin) {
        return shared.message(type, origin);
    }

    /** A lane for what has no lane of its own, or null while none is open. */
    @Nullable
    VerbsLane messageLane() {
        for (VerbsLane lane : lanes) {
            if (lane.isOpen()) {
                return lane;
            }
        }
        return null;
    }

    /** A notification waits for room. */
    void notificationRefused() {
        refusedNotification = true;
    }

    /** Sends a marker on each other lane that was written on since the last notification; says on how many. */
    int sendMarkers(VerbsLane beside, long number) {
        int count = 0;
        for (VerbsLane lane : lanes) {
            if (lane.takeWrittenSinceNotification() && lane != beside && !lane.isDown()) {
                lane.enqueue(shared.message(Message.MARKER, lane).word(number));
                count++;
            }
        }
        return count;
    }

    @Override
    public void makeVisible(Runnable done) {
        VisibilityRequest request = new VisibilityRequest(done);
        for (VerbsLane lane : lanes) {
            if (lane.takeWrittenSinceVisible() && !lane.isDown()) {
                lane.makeVisible(request);
            }
        }
        request.arrived();
    }

    // ---- watchdog and end ----

    @Override
    public @Nullable String stuckLane(long now, long timeoutNanos) {
        for (VerbsLane lane : lanes) {
            if (lane.isStuck(now, timeoutNanos)) {
                return "lane " + lane.index() + " on " + lane.rail() + " made no progress for "
                        + timeoutNanos / 1_000_000 + " ms, though the peer is alive";
            }
        }
        if (!again.isEmpty() && now - againSince > timeoutNanos) {
            return "no lane took over what a broken one left for " + timeoutNanos / 1_000_000 + " ms";
        }
        return null;
    }

    void count(WireCounter counter, long delta) {
        context.count(counter, delta);
    }

    @Override
    public int lanes(PathState state) {
        int count = 0;
        for (VerbsLane lane : lanes) {
            count += lane.pathState() == state ? 1 : 0;
        }
        return count;
    }

    @Override
    public int rails(PathState state) {
        if (state == PathState.HEALING) {
            return 0;
        }
        Set<Rail> used = new HashSet<>();
        Set<Rail> up = new HashSet<>();
        for (VerbsLane lane : lanes) {
            used.add(lane.rail());
            if (lane.pathState() != PathState.DOWN) {
                up.add(lane.rail());
            }
        }
        return state == PathState.UP ? up.size() : used.size() - up.size();
    }

    void failed(String reason) {
        failed(new ConnectionLostException(reason));
    }

    void failed(SluiceException error) {
        if (!closed) {
            context.failed(error);
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        shared.loop().disarm(revival);
        for (VerbsLane lane : lanes) {
            lane.close();
        }
        WorkRequest request;
        while ((request = again.pollFirst()) != null) {
            completed(request, CompletionStatus.FLUSHED);
        }
        attached.clear();
    }

    @Override
    public boolean isQuiescent() {
        // a destroyed queue pair touches no memory
        return closed;
    }

    @Override
    public String toString() {
        return context.toString();
    }
}
