package io.sluice.cuda;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.PageLists;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.SecretSource;
import io.sluice.engine.transport.StreamOrder;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One end of a connection: GPUs of this process carry everything out, the peer's take no part. On the loop's thread. */
final class CudaEndpoint
        implements Endpoint, RegionAttachments, TransportMessages, PageLists, StreamOrder, StreamLane.Owner {
    private final EndpointContext context;
    private final CudaLoop loop;
    private final PeerLink link;
    private final OwnMemory own;
    private final PeerMemory peer;
    private final WorkPosting posting;
    private int inFlight;
    private boolean changed;
    private volatile boolean met;
    private boolean closed;
    private boolean saidStopped;
    private boolean peerStopped;
    private boolean left;

    CudaEndpoint(
            EndpointContext context,
            CudaLoop loop,
            Gpus gpus,
            MappingThread thread,
            ReleaseThread releases,
            SecretSource secrets) {
        this.context = context;
        this.loop = loop;
        this.link = new PeerLink(context, secrets, new LinkOwner());
        this.own = new OwnMemory(context, link);
        this.peer = new PeerMemory(context, loop, gpus, thread, releases, this::resume);
        this.posting = new WorkPosting(context, this, loop, gpus, peer, this::resume);
    }

    // ---- setting up ----

    @Override
    public byte[] offer() {
        return link.offer().toBytes();
    }

    @Override
    public void begin(byte[] peerOffer) {
        if (closed) {
            return;
        }
        try {
            link.begin(CudaOffer.read(peerOffer));
        } catch (SluiceException e) {
            context.failed(e);
        }
    }

    /** Handles events of the Unix socket. */
    private final class LinkOwner implements PeerLink.Owner {
        @Override
        public void met() {
            met = true;
            context.established();
        }

        @Override
        public void message(byte type, ByteBuffer message, int descriptor) {
            if (type == CudaMessage.MEMORY && message.remaining() >= Long.BYTES) {
                peer.descriptorCame(message.getLong(), descriptor);
                return;
            }
            if (descriptor >= 0) {
                Sockets.close(descriptor);
            }
            switch (type) {
                case CudaMessage.STOPPED -> stopped();
                case CudaMessage.CHANGED -> context.wordsChanged();
                default -> throw new ProtocolException("a message of type " + type + " on the peer's Unix socket");
            }
        }

        @Override
        public void roomAgain() {
            own.sendWanted();
            tellChanged();
        }

        @Override
        public void failed(SluiceException error) {
            fail(error);
        }

        @Override
        public boolean hungUp() {
            boolean mayReach = !peerStopped && own.isReachable();
            if (mayReach) {
                fail(new SluiceException("the peer has closed its end of the path over GPUs"));
            }
            return mayReach;
        }

        @Override
        public void peerGone() {
            stopped();
        }
    }

    // ---- regions ----

    @Override
    public boolean reaches(ExportedRegion region) {
        return own.reaches(region);
    }

    @Override
    public byte @Nullable [] keysOf(long handle, ExportedRegion region) {
        return own.keysOf(handle, region);
    }

    @Override
    public RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        return peer.key(handle, descriptor, keys);
    }

    @Override
    public void prepare(List<RemoteKey> keys, Consumer<@Nullable SluiceException> done) {
        peer.prepare(keys, done);
    }

    @Override
    public void detached(RemoteKey key) {
        peer.detached((CudaRemoteKey) key);
    }

    @Override
    public void exportEnded(long handle) {
        own.ended(handle);
    }

    @Override
    public boolean takesPages(RemoteKey remote) {
        return true;
    }

    @Override
    public void received(ByteBuffer message) {
        byte type = CudaMessage.need(message, 1 + Long.BYTES).get();
        long handle = message.getLong();
        switch (type) {
            case CudaMessage.ENDED -> peer.ended(handle);
            case CudaMessage.RELEASED -> own.released(handle);
            case CudaMessage.WANTED -> own.wanted(handle);
            default -> throw new ProtocolException("a message of type " + type + " for the cuda endpoint");
        }
    }

    // ---- work ----

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        int done = 0;
        while (done < count && !closed) {
            int accepted = posting.next(batch, from + done, count - done);
            if (accepted == 0) {
                break;
            }
            done += accepted;
        }
        return done;
    }

    @Override
    public boolean ordersAfter(StreamEvent event) {
        return event instanceof CudaEvent;
    }

    @Override
    public boolean completesInto(StreamCompletion event) {
        return event instanceof StreamWord;
    }

    @Override
    public void refused(WorkRequest request) {
        posting.refused(request);
    }

    /** Posts what waits for a lane, if its event has happened. */
    void postHappened() {
        if (!closed) {
            posting.postHappened();
        }
    }

    /** A request is in a stream, or waits for one. */
    void posted(WorkRequest request) {
        inFlight++;
        ((CudaRemoteKey) request.remote()).posted();
        if (request.hasSignal()) {
            ((CudaRemoteKey) request.signal()).posted();
        }
    }

    @Override
    public void signalDue(WorkRequest request) {
        if (closed) {
            finished(request, CompletionStatus.FLUSHED);
        } else {
            posting.signalDue(request);
        }
    }

    @Override
    public void partDone(PartedCopy copy, CompletionStatus status) {
        posting.partDone(copy, status);
    }

    @Override
    public void finished(WorkRequest request, CompletionStatus status) {
        inFlight--;
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        CudaRemoteKey signal = request.hasSignal() ? (CudaRemoteKey) request.signal() : null;
        WorkRequest.Opcode operation = request.operation();
        if (status == CompletionStatus.SUCCESS) {
            long bytes = request.length();
            if (operation.changesRemote()) {
                context.count(WireCounter.SENT, bytes + (signal == null ? 0 : WorkRequest.WORD_BYTES));
            } else {
                context.count(WireCounter.RECEIVED, bytes);
            }
            changed |=
                    signal != null || (operation != WorkRequest.Opcode.WRITE && operation != WorkRequest.Opcode.READ);
        }
        posting.ended(request, status);
        context.completed(request, status);
        if (key.completed()) {
            peer.finish(key);
        }
        if (signal != null && signal.completed()) {
            peer.finish(signal);
        }
    }

    /** The target's code may wait for words that were changed. */
    void tellChanged() {
        // the link is told when there is room again
        changed = changed && !link.tell(CudaMessage.CHANGED);
    }

    /** There may be room, or memory that was not mapped before. */
    void resume() {
        if (!closed) {
            posting.goOn();
            context.postable();
        }
    }

    // ---- life ----

    @Override
    public void regionClosing() {
        // the ends of its attachments have been told, and this side leases it only to the peer
    }

    @Override
    public boolean holdsClosedLease() {
        return own.holdsClosedLease();
    }

    @Override
    public @Nullable String stuckLane(long now, long timeoutNanos) {
        return inFlight > 0 && Math.max(loop.waited(now, this), posting.waited(now)) > timeoutNanos
                ? "a GPU's stream, whose work has made no progress: is the GPU held up by a kernel?"
                : null;
    }

    @Override
    public int lanes(PathState state) {
        return state == PathState.UP && met ? 1 : 0;
    }

    void fail(SluiceException error) {
        if (!closed) {
            context.failed(error);
        }
    }

    /** The peer's endpoint, or its process, has ended. */
    private void stopped() {
        if (peerStopped) {
            return;
        }
        peerStopped = true;
        own.peerStopped();
        fail(new SluiceException("the peer has closed its end of the path over GPUs"));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            posting.close();
            peer.close();
        }
    }

    @Override
    public boolean isQuiescent() {
        if (inFlight > 0 || !peer.isEmpty()) {
            return false;
        }
        if (!saidStopped) {
            // a link that is full is read by the peer, and told again
            saidStopped = link.tell(CudaMessage.STOPPED) || peerStopped || !met;
        }
        if (!saidStopped || (own.isReachable() && !peerStopped)) {
            return false;
        }
        if (!left) {
            left = true;
            link.close();
            loop.left(this);
        }
        return true;
    }
}
