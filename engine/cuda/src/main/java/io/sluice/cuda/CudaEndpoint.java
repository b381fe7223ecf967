package io.sluice.cuda;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.PageLists;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.CudaStream;
import io.sluice.jni.Sockets;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One end of a connection: GPUs of this process carry everything out, the peer's take no part. On the loop's thread. */
final class CudaEndpoint implements Endpoint, RegionAttachments, TransportMessages, PageLists {
    private static final Logger LOG = LoggerFactory.getLogger(CudaEndpoint.class);
    private static final int NONE = -1;
    // up to here a kernel for several is faster than a copy engine for each
    private static final long MOST_BYTES_BY_KERNEL = 256 << 10;

    private final EndpointContext context;
    private final CudaLoop loop;
    private final Gpus gpus;
    private final PeerLink link;
    private final OwnMemory own;
    private final PeerMemory peer;
    private int inFlight;
    private boolean changed;
    private volatile boolean met;
    private boolean closed;
    private boolean saidStopped;
    private boolean peerStopped;
    private boolean left;

    CudaEndpoint(EndpointContext context, CudaLoop loop, Gpus gpus, MappingThread thread, SecretSource secrets) {
        this.context = context;
        this.loop = loop;
        this.gpus = gpus;
        this.link = new PeerLink(context, secrets, new LinkOwner());
        this.own = new OwnMemory(context);
        this.peer = new PeerMemory(context, gpus, thread, this::resume);
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

    /** What comes over the Unix socket. */
    private final class LinkOwner implements PeerLink.Owner {
        @Override
        public void met() {
            met = true;
            context.established();
        }

        @Override
        public void message(byte type, ByteBuffer message, int descriptor) {
            if (type == CudaMessage.MEMORY) {
                peer.descriptorCame(CudaMessage.need(message, Long.BYTES).getLong(), descriptor);
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
        public void failed(SluiceException error) {
            fail(error);
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
    public void exposureEnded(long handle) {
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
            case CudaMessage.WANTED -> own.wanted(handle, link);
            default -> throw new ProtocolException("a message of type " + type + " for the cuda endpoint");
        }
    }

    // ---- work ----

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        int done = 0;
        while (done < count && !closed) {
            int accepted = postNext(batch, from + done, count - done);
            if (accepted == 0) {
                break;
            }
            done += accepted;
        }
        return done;
    }

    /** Posts one, or several as one record; 0 if it has to wait. */
    private int postNext(WorkRequest[] batch, int at, int count) {
        WorkRequest request = batch[at];
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        int ordinal = ordinalOf(request, key);
        CompletionStatus refusal = refusal(request, key, ordinal);
        if (refusal != null) {
            context.completed(request, refusal);
            return 1;
        }
        if (!isReady(request, key, ordinal)) {
            return 0;
        }
        GpuStreams streams = loop.streams(ordinal);
        StreamLane lane = streams.idlest();
        if (lane == null || loop.room() < PageTable.MOST_PAGES) {
            loop.owe(this);
            return 0;
        }
        return switch (request.operation()) {
            case WRITE, READ -> request.hasPages()
                    ? postPages(request, streams, lane)
                    : postCopies(batch, at, count, streams, lane);
            case PUT -> postPut(request, streams, lane);
            case SIGNAL -> postSignal(request, streams, lane);
            case FETCH_ADD, COMPARE_AND_SWAP -> throw new IllegalStateException("refused before");
        };
    }

    /** The GPU that carries it out: the local memory's, or one that has the remote memory mapped; −1 if there is none. */
    private static int ordinalOf(WorkRequest request, CudaRemoteKey key) {
        return request.registration() instanceof DeviceRegistration device
                ? device.gpu().ordinal()
                : key.allocation().preferred();
    }

    private static boolean isCopy(WorkRequest request) {
        return request.operation() == WorkRequest.Opcode.WRITE || request.operation() == WorkRequest.Opcode.READ;
    }

    private @Nullable CompletionStatus refusal(WorkRequest request, CudaRemoteKey key, int ordinal) {
        long length = request.hasPages() ? 0 : request.length();
        CompletionStatus refused = key.refusal(request.operation(), request.remoteOffset(), length);
        if (refused != null) {
            return refused;
        }
        if (request.operation().isFetching()) {
            return CompletionStatus.UNSUPPORTED;
        }
        if (ordinal == NONE || key.allocation().refusal(ordinal) != null) {
            return CompletionStatus.REMOTE_MEMORY_FAULT;
        }
        if (isCopy(request) && isLocalRefused(request.registration())) {
            return CompletionStatus.LOCAL_MEMORY_FAULT;
        }
        CudaRemoteKey word = request.hasSignal()
                ? (CudaRemoteKey) request.signal()
                : request.operation() == WorkRequest.Opcode.SIGNAL ? key : null;
        if (word == null) {
            return null;
        }
        refused = request.hasSignal()
                ? word.refusal(WorkRequest.Opcode.SIGNAL, request.signalOffset(), WorkRequest.WORD_BYTES)
                : null;
        if (refused != null) {
            return refused;
        }
        // an addition that others of the GPU could get between would lose theirs
        return gpus.addsTo(ordinal, word.allocation().keys().gpu()) ? null : CompletionStatus.UNSUPPORTED;
    }

    private static boolean isLocalRefused(@Nullable RegisteredMemory registration) {
        return switch (registration) {
            case DeviceRegistration device -> false;
            case HostRegistration host ->
                host.state() == HostRegistration.State.REFUSED || host.state() == HostRegistration.State.CLOSED;
            case null, default -> true;
        };
    }

    /** Whether all of its memory is mapped and pinned; if not, that is begun, and the engine told once it is. */
    private boolean isReady(WorkRequest request, CudaRemoteKey key, int ordinal) {
        if (!isMapped(key, ordinal) || (request.hasSignal() && !isMapped((CudaRemoteKey) request.signal(), ordinal))) {
            return false;
        }
        if (isCopy(request)
                && request.registration() instanceof HostRegistration host
                && host.state() != HostRegistration.State.PINNED) {
            host.pin(gpus.open(ordinal), () -> context.loop().execute(this::resume));
            return false;
        }
        return true;
    }

    private boolean isMapped(CudaRemoteKey key, int ordinal) {
        if (!key.allocation().isMapped(ordinal)) {
            peer.map(key.allocation(), ordinal);
            return false;
        }
        return true;
    }

    /** Where the GPU sees the region's memory; it is ready. */
    private static long localBase(WorkRequest request) {
        return request.registration() instanceof HostRegistration host
                ? host.deviceAddress()
                : request.local().address();
    }

    private int postCopies(WorkRequest[] batch, int at, int count, GpuStreams streams, StreamLane lane) {
        int run = loop.usesKernels() ? run(batch, at, count, streams.gpu().ordinal(), lane.room()) : 1;
        int slot = run > 1 ? streams.tables().take() : NONE;
        if (slot == NONE) {
            postCopy(batch[at], streams, lane);
            return 1;
        }
        WorkRequest first = batch[at];
        long number = lane.nextSequence();
        long record = loop.record(lane, CudaStream.COPY_PAGES, number);
        loop.pages(record, run);
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, first.length());
        loop.put(record, CudaStream.REQUEST_DESTINATIONS_OFFSET, streams.tables().destinations(slot));
        loop.put(record, CudaStream.REQUEST_SOURCES_OFFSET, streams.tables().sources(slot));
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        for (int i = 0; i < run; i++) {
            WorkRequest request = batch[at + i];
            CudaRemoteKey key = (CudaRemoteKey) request.remote();
            long local = localBase(request) + request.localOffset();
            long remote = key.address(streams.gpu().ordinal()) + request.remoteOffset();
            boolean writes = request.operation() == WorkRequest.Opcode.WRITE;
            streams.tables().set(slot, i, writes ? remote : local, writes ? local : remote);
            posted(request, lane, number, i == run - 1 ? slot : NONE);
        }
        return run;
    }

    /** How many of the next are copies of one length that one kernel can carry out. */
    private int run(WorkRequest[] batch, int at, int count, int ordinal, int room) {
        WorkRequest first = batch[at];
        if (first.hasSignal() || first.length() == 0 || first.length() > MOST_BYTES_BY_KERNEL) {
            return 1;
        }
        int most = Math.min(Math.min(count, room), PageTable.MOST_PAGES);
        int run = 1;
        while (run < most && joins(batch[at + run], first, ordinal)) {
            run++;
        }
        return run;
    }

    private boolean joins(WorkRequest next, WorkRequest first, int ordinal) {
        if (next.operation() != first.operation()
                || next.length() != first.length()
                || next.hasSignal()
                || next.hasPages()) {
            return false;
        }
        CudaRemoteKey key = (CudaRemoteKey) next.remote();
        return key.refusal(next.operation(), next.remoteOffset(), next.length()) == null
                && key.allocation().isMapped(ordinal)
                && switch (next.registration()) {
                    case DeviceRegistration device -> device.gpu().ordinal() == ordinal;
                    case HostRegistration host -> host.state() == HostRegistration.State.PINNED;
                    case null, default -> false;
                };
    }

    private void postCopy(WorkRequest request, GpuStreams streams, StreamLane lane) {
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        long local = localBase(request) + request.localOffset();
        long remote = key.address(streams.gpu().ordinal()) + request.remoteOffset();
        long number = lane.nextSequence();
        long record;
        if (request.length() == 0) {
            record = loop.record(lane, CudaStream.COMPLETE, number);
        } else {
            boolean writes = request.operation() == WorkRequest.Opcode.WRITE;
            record = copy(lane, number, writes ? remote : local, writes ? local : remote, request.length());
        }
        if (request.hasSignal()) {
            CudaRemoteKey signal = (CudaRemoteKey) request.signal();
            addSignal(
                    record,
                    signal.address(streams.gpu().ordinal()) + request.signalOffset(),
                    request.signalAddend());
        }
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        posted(request, lane, number, NONE);
    }

    private long copy(StreamLane lane, long number, long destination, long source, long bytes) {
        long record = loop.record(lane, CudaStream.COPY, number);
        loop.put(record, CudaStream.REQUEST_DESTINATION_OFFSET, destination);
        loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, source);
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, bytes);
        return record;
    }

    private void addSignal(long record, long address, long addend) {
        loop.put(record, CudaStream.REQUEST_SIGNAL_OFFSET, address);
        loop.put(record, CudaStream.REQUEST_ADDEND_OFFSET, addend);
    }

    private int postPages(WorkRequest request, GpuStreams streams, StreamLane lane) {
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        PageTable pages = request.pages();
        boolean writes = request.operation() == WorkRequest.Opcode.WRITE;
        long local = localBase(request);
        long remote = key.address(streams.gpu().ordinal());
        int slot = NONE;
        if (loop.usesKernels()) {
            slot = streams.tables().take();
            if (slot == NONE) {
                loop.owe(this);
                return 0;
            }
        }
        long number = lane.nextSequence();
        long record;
        if (slot != NONE) {
            streams.tables()
                    .set(
                            slot,
                            writes ? pages.remotes() : pages.locals(),
                            writes ? pages.locals() : pages.remotes(),
                            request.firstPage(),
                            request.pageCount());
            record = loop.record(lane, CudaStream.COPY_PAGES, number);
            loop.pages(record, request.pageCount());
            loop.put(record, CudaStream.REQUEST_DESTINATION_OFFSET, writes ? remote : local);
            loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, writes ? local : remote);
            loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, pages.pageBytes());
            loop.put(record, CudaStream.REQUEST_DESTINATIONS_OFFSET, streams.tables().destinations(slot));
            loop.put(record, CudaStream.REQUEST_SOURCES_OFFSET, streams.tables().sources(slot));
        } else {
            record = NONE;
            for (int i = request.firstPage(); i < request.firstPage() + request.pageCount(); i++) {
                long here = local + pages.local(i);
                long there = remote + pages.remote(i);
                record = copy(lane, number, writes ? there : here, writes ? here : there, pages.pageBytes());
            }
        }
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        posted(request, lane, number, slot);
        return 1;
    }

    private int postPut(WorkRequest request, GpuStreams streams, StreamLane lane) {
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        long cell = lane.cell();
        for (int i = 0; i < request.length(); i++) {
            streams.pinned().set(ValueLayout.JAVA_BYTE, cell + i, (byte) (request.operand() >>> (Byte.SIZE * i)));
        }
        long number = lane.nextSequence();
        long record = copy(
                lane,
                number,
                key.address(streams.gpu().ordinal()) + request.remoteOffset(),
                streams.pinnedAddress() + cell,
                request.length());
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        posted(request, lane, number, NONE);
        return 1;
    }

    private int postSignal(WorkRequest request, GpuStreams streams, StreamLane lane) {
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        long number = lane.nextSequence();
        long record = loop.record(lane, CudaStream.COMPLETE, number);
        addSignal(record, key.address(streams.gpu().ordinal()) + request.remoteOffset(), request.operand());
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        posted(request, lane, number, NONE);
        return 1;
    }

    private void posted(WorkRequest request, StreamLane lane, long number, int slot) {
        inFlight++;
        ((CudaRemoteKey) request.remote()).posted();
        if (request.hasSignal()) {
            ((CudaRemoteKey) request.signal()).posted();
        }
        lane.add(request, this, number, slot, context.loop().now());
    }

    /** A request has been carried out, or never will be. */
    void finished(WorkRequest request, CompletionStatus status) {
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
            changed |= signal != null || !isCopy(request);
        }
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
        if (changed) {
            changed = false;
            link.send(ByteBuffer.wrap(new byte[] {CudaMessage.CHANGED}));
        }
    }

    static void refused(int error) {
        LOG.warn("a GPU does not take a request: {}", CudaLibrary.errorText(error));
    }

    /** There may be room, or memory that was not mapped before. */
    void resume() {
        if (!closed) {
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
        return inFlight > 0 && loop.waited(now) > timeoutNanos
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
            saidStopped = link.send(ByteBuffer.wrap(new byte[] {CudaMessage.STOPPED})) || peerStopped || !met;
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
