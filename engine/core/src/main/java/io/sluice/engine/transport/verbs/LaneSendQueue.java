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
 * A lane's send queue: encodes work requests as records in the loop's batch, and keeps the entry of each slot until it
 * completes. Each slot has a word of registered memory for the operand of a put or the result of a fetch.
 */
final class LaneSendQueue extends PostBatch.Queue {
    /** The entry of a read that verifies a new queue pair. */
    @FunctionalInterface
    interface Probe {
        /** The path works. */
        void returned();
    }

    /** The entry of a write's bytes, followed by its signal as an atomic operation. */
    static final Object PART = new Object();

    private static final Object MESSAGE = new Object();
    // one completion for many requests, but often enough to keep the queue from stalling
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
    private long flushWord;
    private int flushWordKey;
    private int unsignaled;

    /**
     * Creates the send queue of a lane.
     *
     * @param refused receives the error when the adapter takes no more requests
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

    /** Sets the queue pair. */
    void use(long handle, long firstId) {
        queuePair = handle;
        idBase = firstId;
        unsignaled = 0;
    }

    /** Sets the peer's port. */
    void reach(int index, OfferedRail port) {
        peerRail = index;
        flushWord = port.flushWord();
        flushWordKey = port.flushWordKey();
    }

    /** The requests in flight. */
    SendRing places() {
        return places;
    }

    /** The number of free slots. */
    int free() {
        return depth - places.count();
    }

    /** The index of the peer's port among its rails. */
    int peerRail() {
        return peerRail;
    }

    /** Posts a read or write between the request's memory and its remote region. */
    void transfer(int opcode, WorkRequest request, Object what) {
        if (!(request.registration() instanceof RailRegistration registration)) {
            throw new IllegalStateException("the local region is not registered");
        }
        // anything that may throw comes first: the batch would post a half-described request
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

    /** Adds the pages of a request, adjacent pages as one gather entry; returns the number of entries. */
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

    /** Posts a write whose arrival the peer's engine notices. */
    void transferWithImmediate(WorkRequest request, int immediate, Object what) {
        transfer(VerbsQueuePair.WRITE_WITH_IMMEDIATE, request, what);
        batch.immediate(immediate);
    }

    /** Posts a write of the operand's low-order bytes. */
    void put(WorkRequest request) {
        VerbsRemoteKey remote = (VerbsRemoteKey) request.remote();
        addWord(VerbsQueuePair.WRITE, request, remote, request.remoteOffset(), (int) request.length());
        memory.set(LITTLE_ENDIAN_WORD, wordAt(places.last()), request.operand());
    }

    /** Posts an atomic operation of the peer's adapter. */
    void atomic(WorkRequest request) {
        boolean swap = request.operation() == WorkRequest.Opcode.COMPARE_AND_SWAP;
        int opcode = swap ? VerbsQueuePair.COMPARE_AND_SWAP : VerbsQueuePair.FETCH_ADD;
        addWord(opcode, request, (VerbsRemoteKey) request.remote(), request.remoteOffset(), Long.BYTES);
        batch.operands(swap ? request.expected() : request.operand(), swap ? request.operand() : 0);
    }

    /** Posts the signal of a write, executed by the peer's adapter. */
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

    /** Posts a read of the peer's flush word. */
    void readFlushWord(Object what) {
        add(VerbsQueuePair.READ, what);
        batch.memory(memory.address() + wordAt(places.last()), localKey, flushWord, flushWordKey, Long.BYTES);
    }

    /** Posts a message, written into one of the send buffers. */
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

    /** The word fetched by the request in a slot. */
    long fetched(long place) {
        return memory.get(ValueLayout.JAVA_LONG, wordAt(place));
    }

    private long wordAt(long place) {
        return wordsAt + places.word(place);
    }
}
