package io.sluice.engine.transport.verbs;

import io.sluice.engine.Access;
import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.Notifications;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.WriteVisibility;
import io.sluice.engine.transport.verbs.VerbsControlMessage.Fence;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One side of a connection: distributes requests to its lanes, and moves them when a lane breaks. */
final class VerbsEndpoint
        implements Endpoint, RegionAttachments, TransportMessages, Notifications, WriteVisibility, LaneContext {
    private final EndpointContext context;
    private final VerbsOptions options;
    private final List<Rail> rails;
    private final LoopLanes shared;
    private final ConnectionLanes lanes = new ConnectionLanes();
    private final LaneTarget target;
    private final LaneNotifications notifications;
    private final ArrivedWrites writes = new ArrivedWrites();
    // requests that wait for the peer's devices, in order
    private final ArrayDeque<Runnable> flushesAwaited = new ArrayDeque<>();
    private final Map<Long, VerbsRemoteKey> attached = new HashMap<>();
    // requests that a broken lane has not completed
    private final ArrayDeque<WorkRequest> again = new ArrayDeque<>();
    private final Map<WorkRequest, Integer> failures = new IdentityHashMap<>();
    private final LaneRevival revival;
    private int peerRails;
    private boolean peerKnowsDevices;
    private boolean peerFlushes;
    private long againSince;
    private boolean refusedPost;
    private boolean begun;
    private final Runnable tellPostable = this::tellPostable;
    private final Runnable tellNotificationsSendable = this::tellNotificationsSendable;
    private boolean closed;

    VerbsEndpoint(EndpointContext context, VerbsOptions options, List<Rail> rails, LoopLanes shared) {
        this.context = context;
        this.options = options;
        this.rails = rails;
        this.shared = shared;
        this.target = new LaneTarget(context, writes);
        this.notifications = new LaneNotifications(context, lanes, writes);
        this.revival = new LaneRevival(shared.loop(), this::reviveLanes);
    }

    // ---- setting up ----

    @Override
    public byte[] offer() {
        // each rail has at least one lane
        List<Rail> usable = rails.stream().filter(Rail::isUsable).toList();
        if (usable.isEmpty()) {
            throw new ConnectFailedException("no port of " + rails + " is active (ibv_devinfo shows why)");
        }
        int count = Math.max(context.options().lanes(), usable.size());
        List<VerbsLane> made = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                Rail rail = usable.get(i % usable.size());
                made.add(new VerbsLane(this, lanes, shared, options, i, shared.groupOn(rail)));
            }
        } catch (RuntimeException | Error e) {
            made.forEach(VerbsLane::close);
            throw e;
        }
        lanes.use(made);
        List<OfferedRail> ports = rails.stream()
                .map(rail -> new OfferedRail(
                        rail.gid().bytes(),
                        rail.port().lid(),
                        options.pathMtu(rail.port()),
                        rail.port().ethernet(),
                        Math.min(255, rail.limits().readDepthAsTarget()),
                        rail.flushWord(),
                        rail.flushWordKey()))
                .toList();
        List<OfferedLane> queuePairs = made.stream().map(VerbsLane::offer).toList();
        return new VerbsOffer(LaneGroup.CREDITS, ports, queuePairs, true).toBytes();
    }

    @Override
    public void begin(byte[] peerOffer) {
        if (closed) {
            return;
        }
        try {
            VerbsOffer peer = VerbsOffer.read(peerOffer);
            peerRails = peer.rails().size();
            peerKnowsDevices = peer.devices();
            lanes.connect(peer);
        } catch (SluiceException e) {
            context.failed(e);
            return;
        }
        begun = true;
        context.established();
    }

    // ---- regions ----

    @Override
    public boolean reaches(ExportedRegion region) {
        return peerKnowsDevices || region.memory().isHost();
    }

    @Override
    public byte @Nullable [] keysOfRefused(String reason) {
        return peerKnowsDevices ? VerbsRemoteKey.writeRefused(reason) : null;
    }

    @Override
    public byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        RegisteredMemory registration = region.registration();
        if (!(registration instanceof RailRegistration ofRails)) {
            throw new IllegalStateException("the region is not registered with verbs");
        }
        if (!ofRails.isCurrent()) {
            return null;
        }
        if (region.access().contains(Access.REMOTE_WRITE)) {
            writes.expect(ofRails.flush());
        }
        return VerbsRemoteKey.write(region, ofRails);
    }

    @Override
    public RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        VerbsRemoteKey key = VerbsRemoteKey.read(handle, descriptor, keys, peerRails);
        attached.put(handle, key);
        peerFlushes |= key.isFlushed();
        return key;
    }

    @Override
    public void detached(RemoteKey key) {
        // the peer's adapter would still accept this side's requests
        ((VerbsRemoteKey) key).end();
        attached.remove(key.handle());
    }

    @Override
    public void exportEnded(long handle) {
        if (begun && !closed) {
            context.send(VerbsControlMessage.ended(handle));
        }
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
        // into the batch, which leaves at the end of the duty cycle; waiting messages would take room from requests
        lanes.sendMessages();
        return accepted;
    }

    /** Posts a request on a lane; returns false if none has room. */
    private boolean place(WorkRequest request) {
        VerbsRemoteKey remote = (VerbsRemoteKey) request.remote();
        VerbsRemoteKey signal = request.hasSignal() ? (VerbsRemoteKey) request.signal() : null;
        if (remote.hasEnded() || (signal != null && signal.hasEnded())) {
            completed(request, CompletionStatus.UNKNOWN_REGION);
            return true;
        }
        // only one adapter may change the words of an adapter's domain
        boolean byAdapter = (request.operation().isAtomic() && remote.hasAdapterAtomics())
                || (signal != null && signal.hasAdapterAtomics());
        boolean signals = signal != null || request.operation() == WorkRequest.Opcode.SIGNAL;
        if (byAdapter && signals && peerFlushes) {
            // no engine would flush what the signal follows
            completed(request, CompletionStatus.UNSUPPORTED);
            return true;
        }
        if (byAdapter && isMisaligned(request, remote, signal)) {
            completed(request, CompletionStatus.MISALIGNED);
            return true;
        }
        int near = request.registration() instanceof RailRegistration local ? local.near() : 0;
        VerbsLane lane = lanes.leastLoaded(byAdapter, near, remote.nearestRail());
        if (lane == null) {
            if (byAdapter && !lanes.isAnyUpToFirstRail()) {
                completed(request, CompletionStatus.UNSUPPORTED);
                return true;
            }
            return false;
        }
        lane.post(request);
        return true;
    }

    /** An adapter would refuse the word, and the lane would break. */
    private static boolean isMisaligned(WorkRequest request, VerbsRemoteKey remote, @Nullable VerbsRemoteKey signal) {
        long address = signal == null ? remote.address(request.remoteOffset()) : signal.address(request.signalOffset());
        return address % WorkRequest.WORD_BYTES != 0;
    }

    @Override
    public int countFailure(WorkRequest request) {
        int before = failures.getOrDefault(request, 0);
        failures.put(request, before + 1);
        return before;
    }

    @Override
    public void completed(WorkRequest request, CompletionStatus status) {
        if (!failures.isEmpty()) {
            failures.remove(request);
        }
        context.completed(request, status);
    }

    @Override
    public void roomMade() {
        if (closed) {
            return;
        }
        if (!again.isEmpty()) {
            placeAgain();
        }
        if (refusedPost && again.isEmpty()) {
            refusedPost = false;
            // later, because this may be called while completions that use the lane are handled
            shared.loop().execute(tellPostable);
        }
        if (notifications.takeRefused()) {
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

    @Override
    public void again(List<WorkRequest> requests) {
        if (!requests.isEmpty() && again.isEmpty()) {
            againSince = shared.loop().now();
        }
        again.addAll(requests);
    }

    private void placeAgain() {
        WorkRequest request;
        while ((request = again.peekFirst()) != null && place(request)) {
            again.removeFirst();
            count(WireCounter.RESENT_CHUNKS, 1);
        }
    }

    @Override
    public void laneChanged() {
        if (closed) {
            return;
        }
        if (lanes.areAllDown()) {
            failed("every rail to the peer has failed");
            return;
        }
        boolean someDown = lanes.isAnyDown();
        if (someDown && context.initiator()) {
            revival.tryLater();
        } else if (!someDown) {
            revival.reset();
        }
        roomMade();
        tellNotificationsSendable();
    }

    private boolean reviveLanes() {
        return !closed && lanes.revive();
    }

    VerbsLane lane(int index) {
        return lanes.lane(index);
    }

    @Override
    public void send(byte[] message) {
        if (!closed) {
            context.send(message);
        }
    }

    @Override
    public void received(ByteBuffer message) {
        VerbsControlMessage.need(message, 1);
        byte type = message.get();
        switch (type) {
            case VerbsControlMessage.FENCE -> {
                Fence fence = Fence.read(message);
                VerbsLane lane = lane(fence.lane());
                if (fence.refused() >= 0) {
                    // a closing region may be deregistered before this loop has removed it from its table
                    ExportedRegion region = context.exportedRegion(fence.refused());
                    send(VerbsControlMessage.refused(fence.lane(), region != null && region.isOpen()));
                }
                lane.peerFenced(fence);
            }
            case VerbsControlMessage.READY -> {
                VerbsControlMessage.need(message, 5);
                lane(Byte.toUnsignedInt(message.get())).peerReady(message.getInt());
            }
            case VerbsControlMessage.ENDED -> {
                VerbsControlMessage.need(message, 8);
                VerbsRemoteKey key = attached.remove(message.getLong());
                if (key != null) {
                    key.end();
                }
            }
            case VerbsControlMessage.REFUSED -> {
                VerbsControlMessage.need(message, 2);
                lane(Byte.toUnsignedInt(message.get())).peerRefused(message.get() != 0);
            }
            case VerbsControlMessage.FLUSH -> {
                writes.flush();
                send(VerbsControlMessage.flushed());
            }
            case VerbsControlMessage.FLUSHED -> {
                Runnable done = flushesAwaited.pollFirst();
                if (done == null) {
                    throw new ProtocolException("the peer was not asked to flush writes");
                }
                done.run();
            }
            default -> throw new ProtocolException("the peer's verbs endpoint sent a message of unknown type " + type);
        }
    }

    // ---- messages ----

    @Override
    public LaneTarget target() {
        return target;
    }

    @Override
    public void notificationReceived(int type, MemorySegment buffer, long at, int length) {
        notifications.received(type, buffer, at, length);
    }

    @Override
    public NotificationSender notificationSender() {
        return notifications;
    }

    @Override
    public void makeVisible(Runnable done) {
        VisibilityRequest request = new VisibilityRequest(peerFlushes ? () -> flushAtPeer(done) : done);
        lanes.makeVisible(request);
        request.arrived();
    }

    /** The writes are in the memory of the peer's devices. */
    private void flushAtPeer(Runnable done) {
        if (!closed) {
            flushesAwaited.addLast(done);
            context.send(VerbsControlMessage.flush());
        }
    }

    // ---- watchdog and end ----

    @Override
    public @Nullable String stuckLane(long now, long timeoutNanos) {
        VerbsLane lane = lanes.stuck(now, timeoutNanos);
        if (lane != null) {
            return "lane " + lane.index() + " on " + lane.rail() + " made no progress for " + timeoutNanos / 1_000_000
                    + " ms, though the peer is alive";
        }
        if (!again.isEmpty() && now - againSince > timeoutNanos) {
            return "no lane took over the requests of a broken one for " + timeoutNanos / 1_000_000 + " ms";
        }
        return null;
    }

    @Override
    public void count(WireCounter counter, long delta) {
        context.count(counter, delta);
    }

    @Override
    public int lanes(PathState state) {
        return lanes.count(state);
    }

    @Override
    public int rails(PathState state) {
        return lanes.rails(state);
    }

    @Override
    public void failed(String reason) {
        failed(new ConnectionLostException(reason));
    }

    @Override
    public void failed(SluiceException error) {
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
        revival.stop();
        lanes.close();
        WorkRequest request;
        while ((request = again.pollFirst()) != null) {
            completed(request, CompletionStatus.FLUSHED);
        }
        attached.clear();
        flushesAwaited.clear();
    }

    @Override
    public boolean isQuiescent() {
        // a destroyed queue pair accesses no memory
        return closed;
    }

    @Override
    public String toString() {
        return context.toString();
    }
}
