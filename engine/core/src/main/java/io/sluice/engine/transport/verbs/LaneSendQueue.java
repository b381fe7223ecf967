package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import io.sluice.jni.VerbsQueuePair;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.IntConsumer;

/**
 * A lane's send queue: writes work requests as records into the loop's batch, and keeps what stands at each place until it is
 * done. Each place has a word of registered memory, for what is put or fetched.
 */
final class LaneSendQueue extends PostBatch.Queue {
    /** Stands for a read that makes sure that a new queue pair works. */
    @FunctionalInterface
    interface Probe {
        /** The path works. */
        void returned();
    }

    /** Stands for the bytes of a write whose signal, an atomic operation, stands behind it. */
    static final Object PART = new Object();

    private static final Object MESSAGE = new Object();
    // a lone completion for many requests, but not so rare that the queue stalls
    private static final int PLACES_A_SIGNAL = 64;
    private static final ValueLayout.OfLong LITTLE_ENDIAN_WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final LaneContext context;
    private final IntConsumer refused;
    private final PostBatch batch;
    private final MemorySegment memory;
    private final int localKey;
    private final int depth;
    private final int rail;
    private final long buffersAt;
    private final long wordsAt;
    private final SendRing places;

    private long queuePair;
    private long idBase;
    private int peerRail;
    private long landmark;
    private int landmarkKey;
    private int unsignaled;

    /**
     * The send queue of a lane.
     *
     * @param refused is given the error when the adapter takes no more requests
     */
    LaneSendQueue(LaneContext context, PostBatch batch, LaneGroup group, int slot, IntConsumer refused) {
        this.context = context;
        this.refused = refused;
        this.batch = batch;
        this.memory = group.memory();
        this.localKey = group.localKey();
        this.depth = group.sendDepth();
        this.rail = group.rail().index();
        this.buffersAt = group.buffersAt(slot);
        this.wordsAt = group.wordsAt(slot);
        this.places = new SendRing(LaneGroup.places(group.sendDepth()));
    }

    /** From now on this is the queue pair. */
    void use(long handle, long firstId) {
        queuePair = handle;
        idBase = firstId;
        unsignaled = 0;
    }

    /** From now on this is the peer's port. */
    void reach(int index, OfferedRail port) {
        peerRail = index;
        landmark = port.landmark();
        landmarkKey = port.landmarkKey();
    }

    /** The requests in flight. */
    SendRing places() {
        return places;
    }

    /** How many more requests it takes. */
    int free() {
        return depth - places.count();
    }

    /** The place of the peer's port among its rails. */
    int peerRail() {
        return peerRail;
    }

    /** A read, or a write, between the request's memory and its remote region. */
    void transfer(int opcode, WorkRequest request, Object what) {
        if (!(request.registration() instanceof RailRegistration registration)) {
            throw new IllegalStateException("the local region is not registered");
        }
        // what may throw comes first: the batch would post a request that is half described
        VerbsRemoteKey remote = (VerbsRemoteKey) request.remote();
        int key = registration.localKey(rail);
        long remoteAddress = remote.address(request.remoteOffset());
        int remoteKey = remote.key(peerRail);
        int length = (int) request.length();
        add(opcode, what);
        if (opcode != VerbsQueuePair.READ) {
            context.count(WireCounter.SENT, request.length());
        }
        if (request.hasPages()) {
            batch.pieces(addPieces(request, key), key, remoteAddress, remoteKey, length);
        } else {
            batch.memory(request.localAddress(), key, remoteAddress, remoteKey, length);
        }
    }

    /** Adds the pages of a request, those that follow each other as one piece; gives how many pieces they are. */
    private int addPieces(WorkRequest request, int key) {
        PageTable table = request.pages();
        long memoryAt = request.local().address();
        long pageBytes = table.pageBytes();
        int end = request.firstPage() + request.pageCount();
        int pieces = 0;
        int page = request.firstPage();
        while (page < end) {
            long at = table.local(page++);
            long length = pageBytes;
            while (page < end && table.local(page) == at + length) {
                length += pageBytes;
                page++;
            }
            batch.piece(pieces++, memoryAt + at, key, (int) length);
        }
        return pieces;
    }

    /** Posts a write whose arrival the peer's engine sees. */
    void transferWithImmediate(WorkRequest request, int immediate, Object what) {
        transfer(VerbsQueuePair.WRITE_WITH_IMMEDIATE, request, what);
        batch.immediate(immediate);
    }

    /** A write of the operand's low-order bytes. */
    void put(WorkRequest request) {
        VerbsRemoteKey remote = (VerbsRemoteKey) request.remote();
        addWord(VerbsQueuePair.WRITE, request, remote, request.remoteOffset(), (int) request.length());
        memory.set(LITTLE_ENDIAN_WORD, wordAt(places.last()), request.operand());
    }

    /** An atomic operation of the peer's adapter. */
    void atomic(WorkRequest request) {
        boolean swap = request.operation() == WorkRequest.Opcode.COMPARE_AND_SWAP;
        int opcode = swap ? VerbsQueuePair.COMPARE_AND_SWAP : VerbsQueuePair.FETCH_ADD;
        addWord(opcode, request, (VerbsRemoteKey) request.remote(), request.remoteOffset(), Long.BYTES);
        batch.operands(swap ? request.expected() : request.operand(), swap ? request.operand() : 0);
    }

    /** The signal of a write, by the peer's adapter. */
    void signalOf(WorkRequest request) {
        VerbsRemoteKey signal = (VerbsRemoteKey) request.signal();
        addWord(VerbsQueuePair.FETCH_ADD, request, signal, request.signalOffset(), Long.BYTES);
        batch.operands(request.signalAddend(), 0);
    }

    private void addWord(int opcode, WorkRequest request, VerbsRemoteKey remote, long offset, int length) {
        long remoteAddress = remote.address(offset);
        int remoteKey = remote.key(peerRail);
        add(opcode, request);
        context.count(WireCounter.SENT, length);
        batch.memory(memory.address() + wordAt(places.last()), localKey, remoteAddress, remoteKey, length);
    }

    /** A read of the peer's landmark. */
    void readLandmark(Object what) {
        add(VerbsQueuePair.READ, what);
        batch.memory(memory.address() + wordAt(places.last()), localKey, landmark, landmarkKey, Long.BYTES);
    }

    /** A message, written into one of the send buffers. */
    void send(VerbsMessage message, int buffer, long received, long answered) {
        long at = buffersAt + (long) buffer * VerbsMessage.BYTES;
        int length = message.write(memory, at, (int) received, (int) answered);
        add(VerbsQueuePair.SEND, MESSAGE);
        context.count(WireCounter.SENT, length);
        batch.memory(memory.address() + at, localKey, 0, 0, length);
    }

    private void add(int opcode, Object what) {
        long place = places.add(what);
        int flags = 0;
        if (++unsignaled >= PLACES_A_SIGNAL) {
            unsignaled = 0;
            flags = VerbsQueuePair.SIGNALED;
        }
        batch.add(this, queuePair, idBase | (place & 0xffff_ffffL), opcode, flags);
    }

    @Override
    void signalled() {
        unsignaled = 0;
    }

    @Override
    void postRefused(int error) {
        refused.accept(error);
    }

    /** The word that the request at a place has fetched. */
    long fetched(long place) {
        return memory.get(ValueLayout.JAVA_LONG, wordAt(place));
    }

    private long wordAt(long place) {
        return wordsAt + places.word(place);
    }
}
