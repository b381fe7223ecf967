package io.sluice.engine.transport.shm;

import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.InlineOperations;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.Notifications;
import io.sluice.engine.transport.PageLists;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.SecretSource;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a connection. Executes this side's requests on its own: the peer takes no part. On the loop's thread,
 * except for {@link #execute}.
 */
final class ShmEndpoint
        implements Endpoint,
                RegionAttachments,
                TransportMessages,
                Notifications,
                InlineOperations,
                PageLists,
                NotificationSender {
    private static final Logger LOG = LoggerFactory.getLogger(ShmEndpoint.class);

    private final EndpointContext context;
    private final ShmOptions options;
    private final CrossMemoryProbe probe;
    private final ShmHandshake handshake;
    private final OwnRegions ownRegions;
    private final PeerRegions peerRegions;
    private final BatchExecutor batches;

    private @Nullable Path path;
    private boolean peerAllowsCrossMemory;
    private String crossMemoryRefused = "";
    private boolean saidPartial;
    // read by any thread
    private volatile boolean met;
    private boolean closed;
    private boolean peerStopped;
    private boolean stoppedUnsaid;

    ShmEndpoint(EndpointContext context, ShmOptions options, Host host, SecretSource secrets, CrossMemoryProbe probe) {
        this.context = context;
        this.options = options;
        this.probe = probe;
        this.handshake = new ShmHandshake(context, host, options.directory(), secrets, new HandshakeEnd());
        this.ownRegions = new OwnRegions(
                context,
                context.options().maxAttachedRegions(),
                () -> options.crossMemoryAttach() && peerAllowsCrossMemory);
        this.peerRegions = new PeerRegions(context, options.trustHugePages());
        this.batches = new BatchExecutor(context, this::stopped);
    }

    // ---- setting up ----

    @Override
    public byte[] offer() {
        boolean allowed = options.crossMemoryAttach();
        return handshake
                .offer(allowed ? probe.address() : 0, allowed ? probe.bytes() : new byte[ShmOffer.PROBE_BYTES])
                .toBytes();
    }

    @Override
    public void begin(byte[] peerOffer) {
        if (closed) {
            return;
        }
        try {
            ShmOffer peer = ShmOffer.read(peerOffer);
            peerAllowsCrossMemory = peer.allowsCrossMemoryAttach();
            handshake.begin(peer);
        } catch (SluiceException e) {
            context.failed(e);
        } catch (OutOfMemoryError e) {
            context.failed(new TransportUnavailableException("this side is short of memory: " + e.getMessage(), e));
        }
    }

    private final class HandshakeEnd implements ShmHandshake.End {
        @Override
        public void met(ShmPeerLink link, ControlSegment segment, ShmOffer peer) {
            Path made = new Path(link, segment);
            path = made;
            met = true;
            if (options.crossMemoryAttach() && peer.allowsCrossMemoryAttach()) {
                int process = (int) (link.peer() >>> 32);
                CrossMemory.Attempt attempt = CrossMemory.attempt(process, peer);
                batches.crossMemory(attempt.memory());
                crossMemoryRefused = attempt.refused();
            }
            made.begin();
            if (!closed) {
                context.established();
            }
        }

        @Override
        public void message(ByteBuffer message, int[] descriptors) {
            fromLink(message, descriptors);
        }

        @Override
        public void failed(SluiceException error) {
            context.failed(error);
        }

        @Override
        public void peerStopped() {
            stopped();
        }
    }

    // ---- regions ----

    @Override
    public boolean reaches(ExportedRegion region) {
        boolean reached = ownRegions.reach(region);
        if (!reached) {
            sayPartial("they are not allocated by this engine, and cross-memory attach is not allowed on both sides"
                    + " (SLUICE_SHM_CROSS_MEMORY_ATTACH)");
        }
        return reached;
    }

    @Override
    public byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        return ownRegions.keysOf(handle, region);
    }

    @Override
    public RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        try {
            return peerRegions.key(handle, descriptor, keys, batches.hasCrossMemory(), crossMemoryRefused);
        } catch (MemoryNotAccessibleException e) {
            sayPartial(String.valueOf(e.getMessage()));
            throw e;
        }
    }

    private void sayPartial(String why) {
        if (!saidPartial) {
            saidPartial = true;
            LOG.info("{}: some regions are not reached by shm: {}", context, why);
        }
    }

    @Override
    public boolean takesPages(RemoteKey remote) {
        ShmRemoteKey key = (ShmRemoteKey) remote;
        // cross-memory attach batches several requests into one call anyway
        return key.isMapped();
    }

    @Override
    public void prepare(List<RemoteKey> keys, Consumer<@Nullable SluiceException> done) {
        peerRegions.prepare(keys, done);
    }

    @Override
    public void detached(RemoteKey key) {
        peerRegions.detached((ShmRemoteKey) key);
    }

    @Override
    public void exportEnded(long handle) {
        ownRegions.ended(handle);
    }

    @Override
    public void received(ByteBuffer message) {
        byte type = ShmMessage.need(message, 1).get();
        switch (type) {
            case ShmMessage.ENDED ->
                peerRegions.ended(ShmMessage.need(message, Long.BYTES).getLong());
            case ShmMessage.RELEASED ->
                ownRegions.released(ShmMessage.need(message, Long.BYTES).getLong());
            case ShmMessage.WANTED -> {
                ownRegions.wanted(message);
                sendFiles();
            }
            default ->
                throw new ProtocolException("the peer sent a message of unknown type " + type + " to the shm endpoint");
        }
    }

    private void sendFiles() {
        Path current = path;
        if (current != null) {
            ownRegions.sendFiles(current.link);
        }
    }

    private void fromLink(ByteBuffer message, int[] descriptors) {
        byte type = ShmMessage.need(message, 1).get();
        if (type == ShmMessage.STOPPED) {
            stopped();
        } else if (type == ShmMessage.FILES && !closed) {
            peerRegions.filesCame(message, descriptors);
        } else if (!closed) {
            throw new ProtocolException("the peer sent an unexpected message over its Unix socket");
        }
    }

    // ---- work ----

    @Override
    public boolean execute(
            WorkRequest.Opcode operation,
            RegionMemory local,
            long localOffset,
            RemoteKey remote,
            long remoteOffset,
            long length) {
        MemorySegment memory = ((ShmRemoteKey) remote).memory();
        // a dishonest peer's file may be mapped read-only although its descriptor allows writes; the posted path
        // refuses that
        if (memory == null || (memory.isReadOnly() && operation != WorkRequest.Opcode.READ)) {
            return false;
        }
        try {
            // if memory is missing, the posted request finds out again and reports it
            return operation == WorkRequest.Opcode.READ
                    ? MappedMemory.copy(memory, remoteOffset, local.segment(), localOffset, length)
                    : MappedMemory.copy(local.segment(), localOffset, memory, remoteOffset, length);
        } catch (IllegalStateException closedMeanwhile) {
            return false;
        }
    }

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        int done = batches.post(batch, from, count);
        tellWords();
        return done;
    }

    /** The target's code may be waiting for a changed word. */
    private void tellWords() {
        Path current = path;
        if (current != null && batches.takeChangedWords() && current.outgoing.tellChanged()) {
            current.wakeIfParked();
        }
    }

    // ---- notifications ----

    @Override
    public NotificationSender notificationSender() {
        return this;
    }

    @Override
    public boolean hasRoom() {
        Path current = path;
        return current != null && current.messages.hasRoom();
    }

    @Override
    public void send(byte[] payload) {
        Path current = path;
        if (current != null && !closed) {
            current.messages.add(payload);
            try {
                current.sendMessages();
            } catch (ProtocolException e) {
                context.loop().execute(() -> context.failed(e));
            }
        }
    }

    // ---- the shared path ----

    /** The link and the control segment, as a source that the loop polls. */
    private final class Path implements EventLoop.Source {
        private final ShmPeerLink link;
        private final ControlSegment segment;
        private final ControlSegment.Direction outgoing;
        private final ControlSegment.Direction incoming;
        private final OutgoingMessages messages;
        private final IncomingMessages notifications;
        private boolean armed;
        private boolean failed;

        Path(ShmPeerLink link, ControlSegment segment) {
            this.link = link;
            this.segment = segment;
            this.outgoing = segment.direction(context.initiator());
            this.incoming = segment.direction(!context.initiator());
            this.messages = new OutgoingMessages(outgoing);
            this.notifications =
                    new IncomingMessages(incoming, context.options().maxNotificationBytes(), context::notified);
        }

        void begin() {
            context.loop().addSource(this);
        }

        @Override
        public int poll() {
            if (closed || failed) {
                return 0;
            }
            if (armed) {
                armed = false;
                incoming.parked(false);
                outgoing.starved(false);
            }
            int work = 0;
            try {
                if (incoming.takeChanged()) {
                    context.wordsChanged();
                    work++;
                }
                if (notifications.take()) {
                    if (incoming.takeStarved()) {
                        link.wake();
                    }
                    work++;
                }
                if (messages.canGoOn()) {
                    sendMessages();
                    context.notificationsSendable();
                    work++;
                }
                if (ownRegions.owesFiles()) {
                    ownRegions.sendFiles(link);
                    work++;
                }
                if (peerRegions.isLingering()) {
                    peerRegions.letGo();
                    work++;
                }
            } catch (SluiceException e) {
                // a corrupted ring would fail in every cycle until the connection has ended
                failed = true;
                context.failed(e);
                return 1;
            }
            if (batches.beginTurn() && !closed) {
                context.postable();
                work++;
            }
            return work;
        }

        @Override
        public boolean arm() {
            if (closed || failed) {
                return true;
            }
            armed = true;
            incoming.parked(true);
            outgoing.starved(messages.isWaiting());
            return !incoming.hasChanged()
                    && !notifications.hasSome()
                    && !messages.canGoOn()
                    && !ownRegions.owesFiles()
                    && !peerRegions.isLingering()
                    && !batches.isTurnAwaited();
        }

        void sendMessages() {
            if (messages.goOn()) {
                wakeIfParked();
            }
        }

        void wakeIfParked() {
            if (outgoing.takeParked()) {
                link.wake();
            }
        }
    }

    // ---- life ----

    @Override
    public void regionClosing() {
        // the peer was told that its attachments end, and this side leases regions to the peer only
    }

    @Override
    public boolean holdsClosedLease() {
        return ownRegions.holdsClosedLease();
    }

    @Override
    public @Nullable String stuckLane(long now, long timeoutNanos) {
        return null;
    }

    @Override
    public int lanes(PathState state) {
        return state == PathState.UP && met ? 1 : 0;
    }

    /** The peer's endpoint or process has ended. */
    private void stopped() {
        peerStopped = true;
        stoppedUnsaid = false;
        ownRegions.peerStopped();
        handshake.close();
        if (!closed) {
            context.failed(new SluiceException("the peer has closed its end of the shared memory"));
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        // first: callbacks may run below, and nothing may be posted any more
        batches.close();
        peerRegions.close();
        ownRegions.close();
        Path current = path;
        if (current != null) {
            // the ring is not read any more, in which a peer that has ended may have reported changed words
            context.wordsChanged();
            context.loop().removeSource(current);
            current.segment.close();
        }
        if (peerStopped || !ownRegions.isReachableByAddress()) {
            handshake.close();
        } else {
            // until the peer has stopped as well
            stoppedUnsaid = true;
            sayStopped();
        }
    }

    private void sayStopped() {
        Path current = path;
        if (stoppedUnsaid && current != null) {
            stoppedUnsaid = !current.link.send(ByteBuffer.wrap(new byte[] {ShmMessage.STOPPED, 0}));
        }
    }

    @Override
    public boolean isQuiescent() {
        sayStopped();
        if (peerRegions.isLingering()) {
            peerRegions.letGo();
        }
        return !peerRegions.isLingering() && !ownRegions.isReachableByAddress();
    }
}
