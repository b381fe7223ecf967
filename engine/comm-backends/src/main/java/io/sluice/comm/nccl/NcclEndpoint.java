package io.sluice.comm.nccl;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.RegionAttachments;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.TransportMessages;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.CudaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One end of a path, a rank of a communicator of two. A request goes to the target, which checks it, leases its region and grants it;
 * rank 0 puts what is granted on both sides into groups, in the order in which it was, and rank 1 launches the same ones. What was
 * granted is in a group soon, or the connection ends. On the loop's thread.
 */
final class NcclEndpoint implements Endpoint, RegionAttachments, TransportMessages {
    // what comes meanwhile makes the next ones larger
    private static final int MOST_GROUPS = 3;
    private static final long MOST_GROUP_BYTES = 64L << 20;

    private final EndpointContext context;
    private final NcclLoop loop;
    private final NcclLibrary library;
    private final int ordinal;
    private final String device;
    private final boolean isFirst;
    private final byte[] id;
    private final NcclParts parts;
    private final MemorySegment record = Arena.ofAuto().allocate(CudaMemory.RECORD_BYTES, Long.BYTES);
    private @Nullable PairWorker worker;
    private volatile boolean isReady;
    private boolean isClosed;
    private boolean isQuiescent;
    private boolean owesPostable;

    // this side's requests, by how far they are; those in groups are the groups'
    private final ArrayDeque<WorkRequest> unsent = new ArrayDeque<>();
    private final ArrayDeque<WorkRequest> asked = new ArrayDeque<>();
    private final ArrayDeque<WorkRequest> agreed = new ArrayDeque<>();
    private int inFlight;
    // as the peer says
    private int mostInFlight;

    // the peer's
    private final ArrayDeque<ServedRequest> granted = new ArrayDeque<>();
    private final ArrayDeque<ServedRequest> spareServed = new ArrayDeque<>();
    private int served;
    private final int mostServed;

    private final ArrayDeque<TransferGroup> running = new ArrayDeque<>();
    // done here, with writes of this side's that the peer has not acknowledged
    private final ArrayDeque<TransferGroup> unacknowledged = new ArrayDeque<>();
    private final ArrayDeque<TransferGroup> spareGroups = new ArrayDeque<>();
    private long formed;
    private long peerDone;
    private long progressAt;
    // likewise of the groups: answers alone do not count for one that is stuck
    private long groupProgressAt;
    private boolean isWatched;

    NcclEndpoint(
            EndpointContext context, NcclLoop loop, NcclLibrary library, UniqueIds ids, int ordinal, String device) {
        this.context = context;
        this.loop = loop;
        this.library = library;
        this.ordinal = ordinal;
        this.device = device;
        this.isFirst = context.initiator();
        this.id = isFirst ? ids.take() : new byte[0];
        // the peer may know earlier than this side that its reads are done
        this.mostServed = 2 * context.options().maxServedRequests();
        this.parts = new NcclParts(context);
    }

    // ---- setting up ----

    @Override
    public byte[] offer() {
        return new NcclOffer(library.version(), device, context.options().maxServedRequests(), id).toBytes();
    }

    @Override
    public void begin(byte[] peerOffer) {
        if (isClosed) {
            return;
        }
        try {
            NcclOffer peer = NcclOffer.read(peerOffer);
            peer.checkFits(device, library.version());
            if (!isFirst && peer.id().length != NcclLibrary.UNIQUE_ID_BYTES) {
                throw new ProtocolException("the peer's id of a communicator has " + peer.id().length + " bytes");
            }
            mostInFlight = peer.serves();
            PairWorker made =
                    new PairWorker(library, ordinal, isFirst ? 0 : 1, isFirst ? id : peer.id(), new Reports());
            made.start();
            // not before: one that could not start would never end
            worker = made;
            if (!isFirst) {
                // rank 0 alone decides that the connection opens: its communicator has come about when both ranks have
                // joined
                context.established();
            }
        } catch (SluiceException e) {
            context.failed(e);
        }
    }

    /** Brings what the library's thread reports to the loop. */
    private final class Reports implements PairWorker.Owner {
        @Override
        public void ready() {
            context.loop().execute(() -> {
                if (!isClosed) {
                    isReady = true;
                    if (isFirst) {
                        context.established();
                    }
                }
            });
        }

        @Override
        public void failed(RuntimeException error) {
            context.loop().execute(() -> {
                if (!isClosed) {
                    String reason = String.valueOf(error.getMessage());
                    context.failed(
                            isReady
                                    ? new SluiceException("the path over NCCL has failed: " + reason, error)
                                    : new TransportUnavailableException(reason, error));
                }
            });
        }
    }

    // ---- regions ----

    @Override
    public boolean reaches(ExportedRegion region) {
        return !isClosed && region.registration() instanceof NcclMemory;
    }

    @Override
    public RemoteKey remoteKey(long handle, RegionDescriptor descriptor, ByteBuffer keys) {
        return new NcclRemoteKey(handle, descriptor.key(), descriptor.epoch());
    }

    // ---- this side's requests ----

    @Override
    public int post(WorkRequest[] batch, int from, int count) {
        int done = 0;
        while (done < count && !isClosed) {
            if (inFlight >= mostInFlight) {
                owesPostable = true;
                break;
            }
            WorkRequest request = batch[from + done++];
            if (request.operation() != WorkRequest.Opcode.WRITE && request.operation() != WorkRequest.Opcode.READ) {
                context.completed(request, CompletionStatus.UNSUPPORTED);
            } else if (!(request.registration() instanceof NcclMemory memory) || !memory.isCurrent(record)) {
                context.completed(request, CompletionStatus.LOCAL_MEMORY_FAULT);
            } else {
                if (isIdle()) {
                    progressAt = context.loop().now();
                }
                inFlight++;
                unsent.addLast(request);
            }
        }
        return done;
    }

    private boolean isIdle() {
        return inFlight == 0 && served == 0;
    }

    private void complete(WorkRequest request, CompletionStatus status) {
        inFlight--;
        if (status == CompletionStatus.SUCCESS) {
            context.count(
                    request.operation() == WorkRequest.Opcode.WRITE ? WireCounter.SENT : WireCounter.RECEIVED,
                    request.length());
        }
        context.completed(request, status);
    }

    private void tellPostable() {
        if (owesPostable && inFlight < mostInFlight && !isClosed) {
            owesPostable = false;
            context.postable();
        }
    }

    /** Sends what is to be said, and forms groups of what was granted; returns whether there was something. */
    int flush() {
        if (isClosed) {
            return 0;
        }
        for (WorkRequest next = unsent.pollFirst(); next != null; next = unsent.pollFirst()) {
            asked.addLast(next);
            parts.request(next);
        }
        while (isFirst && running.size() < MOST_GROUPS && !(agreed.isEmpty() && granted.isEmpty())) {
            form();
        }
        return parts.flush() ? 1 : 0;
    }

    private void form() {
        long bytes = 0;
        int own = 0;
        for (WorkRequest each : agreed) {
            if (own == TransferGroup.MOST_OPERATIONS / 2 || (own > 0 && bytes + each.length() > MOST_GROUP_BYTES)) {
                break;
            }
            bytes += each.length();
            own++;
        }
        int theirs = 0;
        bytes = 0;
        for (ServedRequest each : granted) {
            if (theirs == TransferGroup.MOST_OPERATIONS / 2
                    || (theirs > 0 && bytes + each.length() > MOST_GROUP_BYTES)) {
                break;
            }
            bytes += each.length();
            theirs++;
        }
        parts.group(own, theirs);
        launch(own, theirs);
    }

    private void launch(int ofFirst, int ofSecond) {
        TransferGroup group = spareGroups.isEmpty() ? new TransferGroup() : spareGroups.removeFirst();
        group.begin(++formed, context.loop().now());
        if (isFirst) {
            addOwn(group, ofFirst);
            addServed(group, ofSecond);
        } else {
            addServed(group, ofFirst);
            addOwn(group, ofSecond);
        }
        if (running.isEmpty()) {
            groupProgressAt = context.loop().now();
        }
        running.addLast(group);
        PairWorker library = worker;
        if (library != null) {
            library.add(group);
        }
        loop.watch(this);
    }

    private void addOwn(TransferGroup group, int count) {
        for (int i = 0; i < count; i++) {
            group.add(agreed.removeFirst());
        }
    }

    private void addServed(TransferGroup group, int count) {
        for (int i = 0; i < count; i++) {
            group.add(granted.removeFirst());
        }
    }

    // ---- what the peer says ----

    @Override
    public void received(ByteBuffer message) {
        try {
            while (message.hasRemaining() && !isClosed) {
                byte type = message.get();
                switch (type) {
                    case NcclParts.REQUEST -> requested(message);
                    case NcclParts.ANSWER -> answered(Byte.toUnsignedInt(message.get()));
                    case NcclParts.GROUP -> grouped(message.get(), message.get());
                    case NcclParts.DONE -> acknowledged(message.getLong());
                    default -> throw new ProtocolException("a part of type " + type + " for the nccl endpoint");
                }
            }
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("a message for the nccl endpoint is cut short", e);
        }
        tellPostable();
    }

    private void requested(ByteBuffer message) {
        byte code = message.get();
        long handle = message.getLong();
        long key = message.getLong();
        long epoch = message.getLong();
        long offset = message.getLong();
        long length = message.getLong();
        if (code != NcclParts.WRITE && code != NcclParts.READ) {
            throw new ProtocolException("a request of type " + code + " for the nccl endpoint");
        }
        if (served >= mostServed) {
            progress();
            if (isClosed) {
                // by a callback: a lease of now would not end
                return;
            }
        }
        if (served >= mostServed) {
            throw new ProtocolException("the peer has more than " + mostServed + " requests under way over NCCL");
        }
        WorkRequest.Opcode operation = code == NcclParts.WRITE ? WorkRequest.Opcode.WRITE : WorkRequest.Opcode.READ;
        CompletionStatus status = grant(operation, handle, key, epoch, offset, length);
        if (status != CompletionStatus.SUCCESS) {
            context.refused();
        }
        parts.answer(status);
    }

    private CompletionStatus grant(
            WorkRequest.Opcode operation, long handle, long key, long epoch, long offset, long length) {
        ExportedRegion region = context.exportedRegion(handle);
        if (region == null || !(region.registration() instanceof NcclMemory memory)) {
            return CompletionStatus.UNKNOWN_REGION;
        }
        CompletionStatus status = region.acquire(operation, key, epoch, offset, length);
        if (status != CompletionStatus.SUCCESS) {
            return status;
        }
        boolean isCurrent = memory.isCurrent(record);
        if (!isCurrent || length == 0) {
            // of an empty one there is nothing to carry
            region.release();
            return isCurrent ? CompletionStatus.SUCCESS : CompletionStatus.REMOTE_MEMORY_FAULT;
        }
        if (isIdle()) {
            progressAt = context.loop().now();
        }
        ServedRequest leased = spareServed.isEmpty() ? new ServedRequest() : spareServed.removeFirst();
        leased.begin(region, operation, region.memory().address() + offset, length);
        granted.addLast(leased);
        served++;
        return CompletionStatus.SUCCESS;
    }

    private void answered(int code) {
        WorkRequest request = asked.pollFirst();
        if (request == null) {
            throw new ProtocolException("the peer answers a request over NCCL that it was not sent");
        }
        progressAt = context.loop().now();
        if (code != CompletionStatus.SUCCESS.code()) {
            complete(request, CompletionStatus.refusal(code));
        } else if (request.length() == 0) {
            complete(request, CompletionStatus.SUCCESS);
        } else {
            agreed.addLast(request);
        }
    }

    private void grouped(int ofFirst, int ofSecond) {
        if (isFirst
                || ofFirst < 0
                || ofSecond < 0
                || ofFirst + ofSecond < 1
                || ofFirst + ofSecond > TransferGroup.MOST_OPERATIONS
                || ofFirst > granted.size()
                || ofSecond > agreed.size()) {
            throw new ProtocolException("the peer forms a group of " + ofFirst + " and " + ofSecond
                    + " requests; granted are " + granted.size() + " and " + agreed.size());
        }
        progressAt = context.loop().now();
        launch(ofFirst, ofSecond);
    }

    private void acknowledged(long number) {
        if (number <= peerDone || number > formed) {
            throw new ProtocolException("the peer has done group " + number + " after " + peerDone + ", of " + formed);
        }
        peerDone = number;
        progressAt = context.loop().now();
        for (TransferGroup group = unacknowledged.peekFirst();
                group != null && group.number() <= number;
                group = unacknowledged.peekFirst()) {
            unacknowledged.removeFirst();
            completeAll(group, WorkRequest.Opcode.WRITE, CompletionStatus.SUCCESS);
            spareGroups.addLast(group);
        }
    }

    // ---- what the stream has done ----

    boolean hasProgress() {
        PairWorker library = worker;
        TransferGroup oldest = running.peekFirst();
        return library != null
                && (isClosed ? library.hasEnded() : oldest != null && oldest.number() <= library.reached());
    }

    /** When the newest group was formed, or now if there is none. */
    long newest(long now) {
        TransferGroup newest = running.peekLast();
        return newest == null ? now : newest.formedAt();
    }

    /** For the loop: whether it looks at the word in each cycle. */
    boolean isWatched() {
        return isWatched;
    }

    /** For the loop. */
    void watched(boolean is) {
        isWatched = is;
    }

    /** Whether its word may change. */
    boolean isAtWork() {
        return isClosed ? !isQuiescent : !running.isEmpty();
    }

    /** Ends what is done; how many groups that were. */
    int progress() {
        PairWorker library = worker;
        if (library == null) {
            return 0;
        }
        if (isClosed) {
            if (!isQuiescent && library.hasEnded()) {
                finish(library);
                return 1;
            }
            return 0;
        }
        long reached = library.reached();
        int done = 0;
        boolean hasServedWrites = false;
        long last = 0;
        for (TransferGroup group = running.peekFirst();
                group != null && group.number() <= reached && !isClosed;
                group = running.peekFirst()) {
            running.removeFirst();
            done++;
            last = group.number();
            progressAt = context.loop().now();
            groupProgressAt = progressAt;
            hasServedWrites |= endServed(group, true);
            completeAll(group, WorkRequest.Opcode.READ, CompletionStatus.SUCCESS);
            if (group.number() <= peerDone) {
                completeAll(group, WorkRequest.Opcode.WRITE, CompletionStatus.SUCCESS);
            } else if (isClosed) {
                // by a callback, when the group was in none of the queues
                completeAll(group, WorkRequest.Opcode.WRITE, CompletionStatus.FLUSHED);
            }
            if (group.requests().isEmpty()) {
                spareGroups.addLast(group);
            } else {
                unacknowledged.addLast(group);
            }
        }
        if (hasServedWrites) {
            parts.done(last);
        }
        tellPostable();
        return done;
    }

    private boolean endServed(TransferGroup group, boolean isDone) {
        boolean hasWrites = false;
        for (int i = 0; i < group.served().size(); i++) {
            ServedRequest each = group.served().get(i);
            hasWrites |= each.operation() == WorkRequest.Opcode.WRITE;
            if (isDone) {
                context.served(each.operation(), each.length());
            }
            endServed(each);
        }
        group.served().clear();
        return hasWrites;
    }

    private void endServed(ServedRequest request) {
        request.end();
        served--;
        spareServed.addLast(request);
    }

    /** Completes those of a group that are of an operation. */
    private void completeAll(TransferGroup group, WorkRequest.Opcode operation, CompletionStatus status) {
        int kept = 0;
        for (int i = 0; i < group.requests().size(); i++) {
            WorkRequest each = group.requests().get(i);
            if (each.operation() != operation) {
                group.requests().set(kept++, each);
            } else {
                complete(each, status);
            }
        }
        while (group.requests().size() > kept) {
            group.requests().removeLast();
        }
    }

    // ---- life ----

    @Override
    public boolean holdsClosedLease() {
        return granted.stream().anyMatch(ServedRequest::isOfClosedRegion)
                || running.stream().flatMap(each -> each.served().stream()).anyMatch(ServedRequest::isOfClosedRegion);
    }

    @Override
    public @Nullable String stuckLane(long now, long timeoutNanos) {
        if (isIdle() || now - (running.isEmpty() ? progressAt : groupProgressAt) <= timeoutNanos) {
            return null;
        }
        return isReady
                ? "NCCL, whose communicator has made no progress with " + running.size() + " groups"
                : "NCCL, whose communicator has not come about";
    }

    @Override
    public int lanes(PathState state) {
        return state == PathState.UP && isReady ? 1 : 0;
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        parts.clear();
        flushAll(unsent, CompletionStatus.FLUSHED_UNSENT);
        flushAll(asked, CompletionStatus.FLUSHED);
        flushAll(agreed, CompletionStatus.FLUSHED);
        for (ServedRequest each = granted.pollFirst(); each != null; each = granted.pollFirst()) {
            endServed(each);
        }
        for (TransferGroup group = unacknowledged.pollFirst(); group != null; group = unacknowledged.pollFirst()) {
            completeAll(group, WorkRequest.Opcode.WRITE, CompletionStatus.FLUSHED);
        }
        PairWorker library = worker;
        if (library == null) {
            isQuiescent = true;
            loop.left(this);
            return;
        }
        library.stop();
        loop.watch(this);
    }

    private void flushAll(ArrayDeque<WorkRequest> requests, CompletionStatus status) {
        for (WorkRequest each = requests.pollFirst(); each != null; each = requests.pollFirst()) {
            complete(each, status);
        }
    }

    /** The GPU does nothing more of the communicator. */
    private void finish(PairWorker library) {
        for (TransferGroup group = running.pollFirst(); group != null; group = running.pollFirst()) {
            endServed(group, false);
            completeAll(group, WorkRequest.Opcode.READ, CompletionStatus.FLUSHED);
            completeAll(group, WorkRequest.Opcode.WRITE, CompletionStatus.FLUSHED);
        }
        isQuiescent = true;
        library.release();
        loop.left(this);
    }

    /** The loop runs no more. */
    void abandon() {
        PairWorker library = worker;
        if (library != null) {
            library.stop();
            library.release();
        }
    }

    @Override
    public boolean isQuiescent() {
        return isQuiescent;
    }
}
