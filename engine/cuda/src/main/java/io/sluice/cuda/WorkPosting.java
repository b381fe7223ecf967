package io.sluice.cuda;

import io.sluice.engine.DeviceMetrics.Unit;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.CudaStream;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
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
    private final GpuChoice choice;
    private final PeerMemory peer;
    private final Runnable resume;
    // their bytes are in place
    private final ArrayDeque<WorkRequest> signalsDue = new ArrayDeque<>();
    private final OrderedPosting ordered;
    private final WorkRequest[] single = new WorkRequest[1];
    private final ArrayDeque<PartedCopy> freeParts = new ArrayDeque<>();
    // what was begun and not given wholly, in order
    private final List<PartedCopy> begun = new ArrayList<>();
    // the one of them that nothing follows before all of it is given: it waits for no event
    private @Nullable PartedCopy blocking;

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
        this.choice = new GpuChoice(gpus);
        this.peer = peer;
        this.resume = resume;
        this.ordered = new OrderedPosting(context, endpoint, loop, choice, this);
    }

    /** Posts one, or several as one record; how many, 0 if it has to wait. */
    int next(WorkRequest[] batch, int at, int count) {
        if (!giveRest()) {
            return 0;
        }
        WorkRequest request = batch[at];
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        int ordinal = choice.ordinalOf(request, key);
        CompletionStatus refusal = choice.refusal(request, key, ordinal);
        if (refusal != null) {
            ordered.refused(request);
            context.completed(request, refusal);
            return 1;
        }
        if (!isReady(request, key, ordinal)) {
            return 0;
        }
        if (OrderedPosting.isOrdered(request)) {
            ordered.post(request, ordinal);
            return 1;
        }
        GpuStreams streams = loop.streams(ordinal);
        StreamLane lane = streams.idlest(endpoint);
        if (lane == null) {
            loop.owe(endpoint);
            return 0;
        }
        return post(batch, at, count, streams, lane);
    }

    /** Posts one that waits for nothing but a lane's room, which there is, and for a page table. */
    void post(WorkRequest request, GpuStreams streams, StreamLane lane) {
        single[0] = request;
        post(single, 0, 1, streams, lane);
    }

    private int post(WorkRequest[] batch, int at, int count, GpuStreams streams, StreamLane lane) {
        WorkRequest request = batch[at];
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

    /** Whether all of its memory is mapped and pinned; if not, that is begun, and the engine told once it is. */
    private boolean isReady(WorkRequest request, CudaRemoteKey key, int ordinal) {
        if (!isMapped(key, ordinal)) {
            return false;
        }
        if (request.hasSignal()) {
            CudaRemoteKey word = (CudaRemoteKey) request.signal();
            if (!isMapped(word, choice.ordinalOfWord(word, ordinal))) {
                return false;
            }
        }
        if (GpuChoice.isCopy(request)
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
        loop.pages(record, run, streams.areSharedWith(endpoint));
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
        if (OrderedPosting.isOrdered(next)
                || next.operation() != first.operation()
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
        long number = ordered.begin(request, lane);
        long record = request.length() == 0
                ? loop.record(lane, CudaStream.COMPLETE, number)
                : copy(request, lane, number, writes ? remote : local, writes ? local : remote, request.length());
        end(record, request, lane, number, ordinal);
        boolean follows = choice.signalFollows(request, ordinal);
        posted(request, lane, number, follows ? StreamLane.SIGNAL_FOLLOWS : StreamLane.NO_TABLE);
    }

    /** The last record of a copy, unless another GPU has to add to the word of its signal. */
    private void end(long record, WorkRequest request, StreamLane lane, long number, int ordinal) {
        if (choice.signalFollows(request, ordinal)) {
            loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
            return;
        }
        if (request.hasSignal() && !lane.isRefused(number)) {
            addSignal(record, request, ordinal);
        }
        ordered.end(record, request, lane, number);
    }

    private long copy(WorkRequest request, StreamLane lane, long number, long destination, long source, long bytes) {
        // the copies of all streams to one device share a queue, where one that waits for an event would hold up the
        // others
        boolean byKernel = request.startAfter() != null && loop.usesKernels();
        long record = loop.record(lane, byKernel ? CudaStream.COPY_STRIDED : CudaStream.COPY, number);
        if (byKernel) {
            loop.pages(record, 1, false);
        }
        loop.put(record, CudaStream.REQUEST_DESTINATION_OFFSET, destination);
        loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, source);
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, bytes);
        lane.counters().launched(byKernel ? Unit.KERNEL : Unit.COPY_ENGINE, bytes);
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
        lane.keep();
        begun.add(copy);
        if (OrderedPosting.isOrdered(request)) {
            ordered.partsBegun(request);
        } else {
            endpoint.posted(request);
            blocking = copy;
        }
        giveRest();
    }

    /** Gives streams the next copies of what was begun; false if nothing may follow yet. */
    private boolean giveRest() {
        for (int i = 0; i < begun.size(); ) {
            PartedCopy copy = begun.get(i);
            if (!copy.isGiven() && copy.lane().recordRoom() > 0) {
                givePart(copy);
            }
            if (copy.isGiven()) {
                given(copy);
            } else {
                i++;
            }
        }
        if (!begun.isEmpty()) {
            loop.owe(endpoint);
        }
        return blocking == null;
    }

    private void givePart(PartedCopy copy) {
        WorkRequest request = copy.request();
        StreamLane lane = copy.lane();
        if ((request.startAfter() != null || request.hasSignal()) && copy.position() > 0) {
            // nothing of it goes on, and no signal, if the driver does not take the wait or an earlier part
            loop.flush();
            if (copy.isGiven() || lane.recordRoom() == 0) {
                return;
            }
        }
        int ordinal = copy.streams().gpu().ordinal();
        long local = localBase(request);
        long remote = ((CudaRemoteKey) request.remote()).address(ordinal);
        boolean writes = request.operation() == WorkRequest.Opcode.WRITE;
        copy.partBegun();
        long before = copy.position();
        long number = before == 0 ? ordered.begin(request, lane) : lane.nextSequence();
        long record = NONE;
        while (!copy.isGiven() && (record == NONE || lane.recordRoom() > 0)) {
            long from = local + copy.local();
            long to = remote + copy.remote();
            long length = inOneRange(request, from, copy.pieceBytes());
            record = copy(request, lane, number, writes ? to : from, writes ? from : to, length);
            copy.gave(length);
        }
        if (record == NONE) {
            // it has failed meanwhile
            record = loop.record(lane, CudaStream.COMPLETE, number);
        }
        if (copy.isWhole()) {
            end(record, request, lane, number, ordinal);
        } else {
            loop.put(record, CudaStream.REQUEST_WORD_OFFSET, lane.wordAddress());
        }
        lane.addPart(copy, endpoint, number, context.loop().now(), copy.position() - before);
        if (lane.isRefused(number)) {
            refused(request);
        }
    }

    /** Nothing of a copy is left to be given. */
    private void given(PartedCopy copy) {
        if (begun.remove(copy)) {
            copy.lane().letGo();
            ordered.partsGiven(copy.request());
        }
        if (copy.equals(blocking)) {
            blocking = null;
        }
    }

    /** A stream is through with a part. */
    void partDone(PartedCopy copy, CompletionStatus status) {
        copy.partEnded(status);
        if (copy.isOver()) {
            end(copy);
        }
    }

    private void end(PartedCopy copy) {
        given(copy);
        WorkRequest request = copy.request();
        CompletionStatus status = copy.status();
        boolean follows = choice.signalFollows(request, copy.streams().gpu().ordinal());
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
        long number = ordered.begin(request, lane);
        long record = loop.record(lane, CudaStream.COPY_PAGES, number);
        loop.pages(record, all, streams.areSharedWith(endpoint));
        lane.counters().launched(Unit.KERNEL, all * pages.pageBytes());
        loop.put(record, CudaStream.REQUEST_DESTINATION_OFFSET, writes ? remote : local);
        loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, writes ? local : remote);
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, pages.pageBytes());
        loop.put(
                record, CudaStream.REQUEST_DESTINATIONS_OFFSET, streams.tables().destinations(slot));
        loop.put(record, CudaStream.REQUEST_SOURCES_OFFSET, streams.tables().sources(slot));
        ordered.end(record, request, lane, number);
        for (int i = 0; i < requests; i++) {
            posted(batch[at + i], lane, number, i == requests - 1 ? slot : StreamLane.NO_TABLE);
        }
        return requests;
    }

    /** Whether a request has the next pages of the same list, and one launch takes them too. */
    private static boolean goesOn(WorkRequest first, int pages, WorkRequest next) {
        if (OrderedPosting.isOrdered(first)
                || OrderedPosting.isOrdered(next)
                || !next.hasPages()
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
        long number = ordered.begin(request, lane);
        long record = copy(
                request,
                lane,
                number,
                key.address(streams.gpu().ordinal()) + request.remoteOffset(),
                streams.pinnedAddress() + cell,
                request.length());
        ordered.end(record, request, lane, number);
        posted(request, lane, number, StreamLane.NO_TABLE);
        return 1;
    }

    // ---- words ----

    private int postSignal(WorkRequest request, GpuStreams streams, StreamLane lane) {
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        long number = ordered.begin(request, lane);
        long record = loop.record(lane, CudaStream.COMPLETE, number);
        long word = key.address(streams.gpu().ordinal()) + request.remoteOffset();
        loop.put(record, CudaStream.REQUEST_SIGNAL_OFFSET, lane.isRefused(number) ? 0 : word);
        loop.put(record, CudaStream.REQUEST_ADDEND_OFFSET, request.operand());
        ordered.end(record, request, lane, number);
        posted(request, lane, number, StreamLane.NO_TABLE);
        return 1;
    }

    private int postFetch(WorkRequest request, GpuStreams streams, StreamLane lane) {
        CudaRemoteKey key = (CudaRemoteKey) request.remote();
        boolean adds = request.operation() == WorkRequest.Opcode.FETCH_ADD;
        long number = ordered.begin(request, lane);
        long record = loop.record(lane, adds ? CudaStream.FETCH_ADD : CudaStream.COMPARE_AND_SWAP, number);
        lane.counters().launched(Unit.KERNEL, WorkRequest.WORD_BYTES);
        loop.put(
                record,
                CudaStream.REQUEST_DESTINATION_OFFSET,
                key.address(streams.gpu().ordinal()) + request.remoteOffset());
        loop.put(record, CudaStream.REQUEST_SOURCE_OFFSET, streams.pinnedAddress() + lane.cell());
        loop.put(record, CudaStream.REQUEST_LENGTH_OFFSET, request.operand());
        loop.put(record, CudaStream.REQUEST_DESTINATIONS_OFFSET, request.expected());
        ordered.end(record, request, lane, number);
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
            int ordinal = choice.ordinalOfWord((CudaRemoteKey) request.signal(), NONE);
            StreamLane lane = loop.streams(ordinal).idlest(endpoint);
            if (lane == null) {
                loop.owe(endpoint);
                return;
            }
            signalsDue.removeFirst();
            long number = lane.nextSequence();
            long record = loop.record(lane, CudaStream.COMPLETE, number);
            addSignal(record, request, ordinal);
            ordered.end(record, request, lane, number);
            add(request, lane, number, StreamLane.NO_TABLE);
        }
    }

    /** The endpoint has room, or memory that it had not. */
    void goOn() {
        postSignalsDue();
        giveRest();
        ordered.postHeld(false);
    }

    /** How long what waits for a lane has got none, in nanoseconds. */
    long waited(long now) {
        return ordered.waited(now);
    }

    /** Posts what waits for a lane too, if its event has happened. */
    void postHappened() {
        ordered.postHeld(true);
    }

    /** The endpoint is closed: what was not given to a stream is not done. */
    void close() {
        WorkRequest request;
        while ((request = signalsDue.pollFirst()) != null) {
            endpoint.finished(request, CompletionStatus.FLUSHED);
        }
        while (!begun.isEmpty()) {
            PartedCopy copy = begun.getFirst();
            copy.stop(CompletionStatus.FLUSHED);
            given(copy);
            if (copy.isOver()) {
                end(copy);
            }
        }
        ordered.flushHeld();
    }

    /** The driver has not taken something of a request: nothing more of that is given. */
    void refused(WorkRequest request) {
        ordered.refused(request);
        for (int i = 0; i < begun.size(); i++) {
            PartedCopy copy = begun.get(i);
            if (copy.request().equals(request)) {
                copy.stop(CompletionStatus.LOCAL_MEMORY_FAULT);
            }
        }
    }

    /** A request has ended. */
    void ended(WorkRequest request, CompletionStatus status) {
        ordered.ended(request, status);
    }

    private void posted(WorkRequest request, StreamLane lane, long number, int slot) {
        if (!OrderedPosting.isOrdered(request)) {
            endpoint.posted(request);
        }
        add(request, lane, number, slot);
    }

    private void add(WorkRequest request, StreamLane lane, long number, int slot) {
        lane.add(request, endpoint, number, slot, context.loop().now());
        if (lane.isRefused(number)) {
            ordered.refused(request);
        }
    }
}
