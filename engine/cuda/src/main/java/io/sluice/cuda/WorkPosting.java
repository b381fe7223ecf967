package io.sluice.cuda;

import io.sluice.engine.DeviceMetrics.Unit;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.CudaStream;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Makes records for streams of an endpoint's requests: by which GPU, in how many, and which have to wait. On the loop's thread. */
final class WorkPosting {
    private static final int NONE = -1;
    // up to here a kernel for several is faster than a copy engine for each
    private static final long MOST_BYTES_BY_KERNEL = 256 << 10;
    // more bytes of a list have blocks enough for several launches, which overlap
    private static final long MOST_BYTES_JOINED = 16 << 20;

    private final EndpointContext context;
    private final CudaEndpoint endpoint;
    private final CudaLoop loop;
    private final Gpus gpus;
    private final PeerMemory peer;
    private final Runnable resume;
    // their bytes are in place
    private final ArrayDeque<WorkRequest> signalsDue = new ArrayDeque<>();
    private final ArrayDeque<PartedCopy> freeParts = new ArrayDeque<>();
    // nothing follows it before all of it is given
    private @Nullable PartedCopy given;

    WorkPosting(
            EndpointContext context,
            CudaEndpoint endpoint,
            CudaLoop loop,
            Gpus gpus,
            PeerMemory peer,
            Runnable resume) {
        this.context = context;
        this.endpoint = endpoint;
        this.loop = loop;
        this.gpus = gpus;
        this.peer = peer;
        this.resume = resume;
    }

    /** Posts one, or several as one record; how many, 0 if it has to wait. */
    int next(WorkRequest[] batch, int at, int count) {
        if (!giveRest()) {
            return 0;
        }
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
        if (lane == null) {
            loop.owe(endpoint);
            return 0;
        }
        return switch (request.operation()) {
            case WRITE, READ ->
                request.hasPages()
                        ? postPages(batch, at, count, streams, lane)
                        : postCopies(batch, at, count, streams, lane);
            case PUT -> postPut(request, streams, lane);
            case SIGNAL -> postSignal(request, streams, lane);
            case FETCH_ADD, COMPARE_AND_SWAP -> postFetch(request, streams, lane);
        };
    }

    /**
     * The GPU that carries it out: the local memory's; that of the word; else the one that the remote memory lies on, or, if this
     * process does not see it or it refuses, one that has it mapped; −1 for none.
     */
    private int ordinalOf(WorkRequest request, CudaRemoteKey key) {
        if (request.operation().isAtomic()) {
            return ordinalOfWord(key, key.allocation().preferred());
        }
        if (request.registration() instanceof DeviceRegistration device) {
            return device.gpu().ordinal();
        }
        int owner = gpus.ordinal(key.allocation().keys().gpu());
        return owner != NONE && key.allocation().refusal(owner) == null
                ? owner
                : key.allocation().preferred();
    }

    /** A GPU whose additions to a word are atomic: the wanted one if it is; else the one that the word lies on, if it is seen here. */
    private int ordinalOfWord(CudaRemoteKey key, int wanted) {
        String owner = key.allocation().keys().gpu();
        return wanted != NONE && gpus.addsTo(wanted, owner) ? wanted : gpus.ordinal(owner);
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
        if (ordinal == NONE) {
            return request.operation().isAtomic() ? CompletionStatus.UNSUPPORTED : CompletionStatus.REMOTE_MEMORY_FAULT;
        }
        if (key.allocation().refusal(ordinal) != null) {
            return CompletionStatus.REMOTE_MEMORY_FAULT;
        }
        if (isCopy(request) && isLocalRefused(request.registration())) {
            return CompletionStatus.LOCAL_MEMORY_FAULT;
        }
        return request.hasSignal() ? signalRefusal(request, ordinal) : null;
    }

    private @Nullable CompletionStatus signalRefusal(WorkRequest request, int ordinal) {
        CudaRemoteKey word = (CudaRemoteKey) request.signal();
        CompletionStatus refused =
                word.refusal(WorkRequest.Opcode.SIGNAL, request.signalOffset(), WorkRequest.WORD_BYTES);
        if (refused != null) {
            return refused;
        }
        int adding = ordinalOfWord(word, ordinal);
        if (adding == NONE) {
            return CompletionStatus.UNSUPPORTED;
        }
        return word.allocation().refusal(adding) == null ? null : CompletionStatus.REMOTE_MEMORY_FAULT;
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
        if (!isMapped(key, ordinal)) {
            return false;
        }
        if (request.hasSignal()) {
            CudaRemoteKey word = (CudaRemoteKey) request.signal();
            if (!isMapped(word, ordinalOfWord(word, ordinal))) {
                return false;
            }
        }
        if (isCopy(request)
                && request.registration() instanceof HostRegistration host
                && host.state() != HostRegistration.State.PINNED) {
            host.pin(gpus.open(ordinal), () -> context.loop().execute(resume));
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

    // ---- copies ----

    private int postCopies(WorkRequest[] batch, int at, int count, GpuStreams streams, StreamLane lane) {
        int run = loop.usesKernels() ? run(batch, at, count, streams.gpu().ordinal(), lane.room()) : 1;
        int slot = run > 1 ? streams.tables().take() : StreamLane.NO_TABLE;
        if (slot == StreamLane.NO_TABLE) {
            postCopy(batch[at], streams, lane);
            return 1;
        }
        WorkRequest first = batch[at];
        long number = lane.nextSequence();
        long record = loop.record(lane, CudaStream.COPY_PAGES, number);
        loop.pages(record, run);
        lane.counters().launched(Unit.KERNEL, run * first.length());
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, first.length());
        loop.put(
                record, CudaStream.REQUEST_DESTINATIONS_OFFSET, streams.tables().destinations(slot));
        loop.put(record, CudaStream.REQUEST_SOURCES_OFFSET, streams.tables().sources(slot));
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        for (int i = 0; i < run; i++) {
            WorkRequest request = batch[at + i];
            CudaRemoteKey key = (CudaRemoteKey) request.remote();
            long local = localBase(request) + request.localOffset();
            long remote = key.address(streams.gpu().ordinal()) + request.remoteOffset();
            boolean writes = request.operation() == WorkRequest.Opcode.WRITE;
            streams.tables().set(slot, i, writes ? remote : local, writes ? local : remote);
            posted(request, lane, number, i == run - 1 ? slot : StreamLane.NO_TABLE);
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

    private static boolean joins(WorkRequest next, WorkRequest first, int ordinal) {
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
        int ordinal = streams.gpu().ordinal();
        long local = localBase(request) + request.localOffset();
        long remote = ((CudaRemoteKey) request.remote()).address(ordinal) + request.remoteOffset();
        if (inOneRange(request, local, request.length()) < request.length()) {
            giveParts(request, streams, lane);
            return;
        }
        boolean writes = request.operation() == WorkRequest.Opcode.WRITE;
        long number = lane.nextSequence();
        long record = request.length() == 0
                ? loop.record(lane, CudaStream.COMPLETE, number)
                : copy(lane, number, writes ? remote : local, writes ? local : remote, request.length());
        boolean carries = carriesSignal(request, ordinal);
        if (carries) {
            addSignal(record, request, ordinal);
        }
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        posted(
                request,
                lane,
                number,
                request.hasSignal() && !carries ? StreamLane.SIGNAL_FOLLOWS : StreamLane.NO_TABLE);
    }

    /** Whether the GPU that copies adds to the word of the request's signal too. */
    private boolean carriesSignal(WorkRequest request, int ordinal) {
        return request.hasSignal() && ordinalOfWord((CudaRemoteKey) request.signal(), ordinal) == ordinal;
    }

    private long copy(StreamLane lane, long number, long destination, long source, long bytes) {
        long record = loop.record(lane, CudaStream.COPY, number);
        loop.put(record, CudaStream.REQUEST_DESTINATION_OFFSET, destination);
        loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, source);
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, bytes);
        lane.counters().launched(Unit.COPY_ENGINE, bytes);
        return record;
    }

    /** How many bytes from a local address on one copy can have: pinned pages may be in several ranges. */
    private static long inOneRange(WorkRequest request, long local, long bytes) {
        return request.registration() instanceof HostRegistration host
                ? Math.min(bytes, host.pinned().end(local) - local)
                : bytes;
    }

    // ---- copies in parts ----

    private void giveParts(WorkRequest request, GpuStreams streams, StreamLane lane) {
        PartedCopy copy = freeParts.isEmpty() ? new PartedCopy() : freeParts.removeLast();
        copy.begin(request, streams, lane);
        endpoint.posted(request);
        given = copy;
        giveRest();
    }

    /** Gives a stream the next copies of what was begun; false if some are left. */
    private boolean giveRest() {
        PartedCopy copy = given;
        if (copy == null) {
            return true;
        }
        if (copy.lane().recordRoom() > 0) {
            givePart(copy);
        }
        if (!copy.isGiven()) {
            loop.owe(endpoint);
            return false;
        }
        given = null;
        return true;
    }

    private void givePart(PartedCopy copy) {
        WorkRequest request = copy.request();
        StreamLane lane = copy.lane();
        int ordinal = copy.streams().gpu().ordinal();
        long local = localBase(request);
        long remote = ((CudaRemoteKey) request.remote()).address(ordinal);
        boolean writes = request.operation() == WorkRequest.Opcode.WRITE;
        long number = lane.nextSequence();
        long before = copy.position();
        long record = NONE;
        while (!copy.isGiven() && lane.recordRoom() > 0) {
            long from = local + copy.local();
            long to = remote + copy.remote();
            long length = inOneRange(request, from, copy.pieceBytes());
            record = copy(lane, number, writes ? to : from, writes ? from : to, length);
            copy.gave(length);
        }
        if (copy.isGiven() && carriesSignal(request, ordinal)) {
            addSignal(record, request, ordinal);
        }
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        lane.addPart(copy, endpoint, number, context.loop().now(), copy.position() - before);
        copy.partBegun();
    }

    /** A stream is through with a part. */
    void partDone(PartedCopy copy, CompletionStatus status) {
        copy.partEnded(status);
        if (copy.isOver()) {
            end(copy);
        }
    }

    private void end(PartedCopy copy) {
        WorkRequest request = copy.request();
        CompletionStatus status = copy.status();
        boolean follows = request.hasSignal()
                && !carriesSignal(request, copy.streams().gpu().ordinal());
        if (copy.equals(given)) {
            given = null;
        }
        copy.clear();
        freeParts.addLast(copy);
        if (follows && status == CompletionStatus.SUCCESS) {
            endpoint.signalDue(request);
        } else {
            endpoint.finished(request, status);
        }
    }

    // ---- lists of pages ----

    /** Posts a list, with those that go on where it ends. */
    private int postPages(WorkRequest[] batch, int at, int count, GpuStreams streams, StreamLane lane) {
        WorkRequest request = batch[at];
        if (!loop.usesKernels()) {
            giveParts(request, streams, lane);
            return 1;
        }
        int slot = streams.tables().take();
        if (slot == StreamLane.NO_TABLE) {
            loop.owe(endpoint);
            return 0;
        }
        PageTable pages = request.pages();
        int most = Math.min(count, lane.room());
        int all = request.pageCount();
        int requests = 1;
        while (requests < most && goesOn(request, all, batch[at + requests])) {
            all += batch[at + requests++].pageCount();
        }
        boolean writes = request.operation() == WorkRequest.Opcode.WRITE;
        long local = localBase(request);
        long remote = ((CudaRemoteKey) request.remote()).address(streams.gpu().ordinal());
        streams.tables()
                .set(
                        slot,
                        writes ? pages.remotes() : pages.locals(),
                        writes ? pages.locals() : pages.remotes(),
                        request.firstPage(),
                        all);
        long number = lane.nextSequence();
        long record = loop.record(lane, CudaStream.COPY_PAGES, number);
        loop.pages(record, all);
        lane.counters().launched(Unit.KERNEL, all * pages.pageBytes());
        loop.put(record, CudaStream.REQUEST_DESTINATION_OFFSET, writes ? remote : local);
        loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, writes ? local : remote);
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, pages.pageBytes());
        loop.put(
                record, CudaStream.REQUEST_DESTINATIONS_OFFSET, streams.tables().destinations(slot));
        loop.put(record, CudaStream.REQUEST_SOURCES_OFFSET, streams.tables().sources(slot));
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        for (int i = 0; i < requests; i++) {
            posted(batch[at + i], lane, number, i == requests - 1 ? slot : StreamLane.NO_TABLE);
        }
        return requests;
    }

    /** Whether a request has the next pages of the same list, and one launch takes them too. */
    private static boolean goesOn(WorkRequest first, int pages, WorkRequest next) {
        if (!next.hasPages()
                || !next.pages().equals(first.pages())
                || !next.remote().equals(first.remote())
                || next.operation() != first.operation()
                || next.hasSignal()
                || next.firstPage() != first.firstPage() + pages) {
            return false;
        }
        int all = pages + next.pageCount();
        return all <= PageTables.MOST_PAGES && all * first.pages().pageBytes() <= MOST_BYTES_JOINED;
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
        posted(request, lane, number, StreamLane.NO_TABLE);
        return 1;
    }

    // ---- words ----

    private int postSignal(WorkRequest request, GpuStreams streams, StreamLane lane) {
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        long number = lane.nextSequence();
        long record = loop.record(lane, CudaStream.COMPLETE, number);
        loop.put(
                record,
                CudaStream.REQUEST_SIGNAL_OFFSET,
                key.address(streams.gpu().ordinal()) + request.remoteOffset());
        loop.put(record, CudaStream.REQUEST_ADDEND_OFFSET, request.operand());
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        posted(request, lane, number, StreamLane.NO_TABLE);
        return 1;
    }

    private int postFetch(WorkRequest request, GpuStreams streams, StreamLane lane) {
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        boolean adds = request.operation() == WorkRequest.Opcode.FETCH_ADD;
        long number = lane.nextSequence();
        long record = loop.record(lane, adds ? CudaStream.FETCH_ADD : CudaStream.COMPARE_AND_SWAP, number);
        lane.counters().launched(Unit.KERNEL, WorkRequest.WORD_BYTES);
        loop.put(
                record,
                CudaStream.REQUEST_DESTINATION_OFFSET,
                key.address(streams.gpu().ordinal()) + request.remoteOffset());
        loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, streams.pinnedAddress() + lane.cell());
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, request.operand());
        loop.put(record, CudaStream.REQUEST_DESTINATIONS_OFFSET, request.expected());
        loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        posted(request, lane, number, StreamLane.NO_TABLE);
        return 1;
    }

    private void addSignal(long record, WorkRequest request, int ordinal) {
        CudaRemoteKey word = (CudaRemoteKey) request.signal();
        loop.put(record, CudaStream.REQUEST_SIGNAL_OFFSET, word.address(ordinal) + request.signalOffset());
        loop.put(record, CudaStream.REQUEST_ADDEND_OFFSET, request.signalAddend());
    }

    /** A write's bytes are in place, and the GPU that its signal's word lies on has to add to that. */
    void signalDue(WorkRequest request) {
        signalsDue.addLast(request);
        postSignalsDue();
    }

    /** Posts signals whose bytes are in place, as far as there is room. */
    private void postSignalsDue() {
        WorkRequest request;
        while ((request = signalsDue.peekFirst()) != null) {
            int ordinal = ordinalOfWord((CudaRemoteKey) request.signal(), NONE);
            StreamLane lane = loop.streams(ordinal).idlest();
            if (lane == null) {
                loop.owe(endpoint);
                return;
            }
            signalsDue.removeFirst();
            long number = lane.nextSequence();
            long record = loop.record(lane, CudaStream.COMPLETE, number);
            addSignal(record, request, ordinal);
            loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
            lane.add(
                    request,
                    endpoint,
                    number,
                    StreamLane.NO_TABLE,
                    context.loop().now());
        }
    }

    /** The endpoint has room, or memory that it had not. */
    void goOn() {
        postSignalsDue();
        giveRest();
    }

    /** The endpoint is closed: what was not given to a stream is not done. */
    void close() {
        WorkRequest request;
        while ((request = signalsDue.pollFirst()) != null) {
            endpoint.finished(request, CompletionStatus.FLUSHED);
        }
        PartedCopy copy = given;
        if (copy != null) {
            given = null;
            copy.stop(CompletionStatus.FLUSHED);
            if (copy.isOver()) {
                end(copy);
            }
        }
    }

    private void posted(WorkRequest request, StreamLane lane, long number, int slot) {
        endpoint.posted(request);
        lane.add(request, endpoint, number, slot, context.loop().now());
    }
}
