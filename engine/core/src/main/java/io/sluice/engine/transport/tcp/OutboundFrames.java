package io.sluice.engine.transport.tcp;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.MissingMemoryException;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.StagedMemory;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The send queue of a lane: a ring of headers in native memory, with parallel arrays for the payload of each frame.
 * Grows to the largest number of frames ever queued, and allocates nothing after that.
 */
final class OutboundFrames {
    private static final int INITIAL = 64;
    // up to this length a payload is copied behind its header, which costs less than a vector entry
    private static final int MOST_COPIED_BYTES = 64;
    private static final int SLOT_BYTES = FrameHeader.LONGEST_BYTES + MOST_COPIED_BYTES;
    // checksums are computed shortly before sending: the first frame should not wait for those of all others
    static final long SUMMED_AT_ONCE = 1 << 20;
    // the loop waits while a device delivers these bytes
    private static final long SUMMED_OF_DEVICE = 128 << 10;
    // a longer call might not end if the peer takes bytes as fast as they are sent
    static final long DESCRIBED_BYTES = 8 << 20;

    // null on a connection without checksums
    private final @Nullable MemoryChecksum sum;
    // the checksum of the first frame that lacks one, over the part of its payload processed so far
    private final @Nullable MemoryChecksum payloadSum;
    private long summedBytes;
    private final int sumsBytes;
    private final boolean copiesSmall;

    private byte[] operations = new byte[INITIAL];
    private long[] payloadAddresses = new long[INITIAL];
    private long[] payloadLengths = new long[INITIAL];
    // the segment of the payload's address, for Java code that reads it: checksums, encryption
    private @Nullable MemorySegment[] payloads = new @Nullable MemorySegment[INITIAL];
    private long[] payloadOffsets = new long[INITIAL];
    private boolean[] copied = new boolean[INITIAL];
    // for frames with a payload in pages
    private @Nullable PagedPayload[] pages = new @Nullable PagedPayload[INITIAL];
    private final ArrayDeque<PagedPayload> freePages = new ArrayDeque<>();
    // for READ_DATA: the region leased until the frame has left
    private @Nullable ExportedRegion[] leases = new @Nullable ExportedRegion[INITIAL];
    // of frames whose payload lies in memory of a device
    private @Nullable StagedPayload[] devices = new @Nullable StagedPayload[INITIAL];
    private final StagedSends staged;
    private int deviceFrames;
    private MemorySegment headers = allocate(INITIAL);
    private int mask = INITIAL - 1;
    private long head;
    private long tail;
    private long sentOfHead;
    // index of the first frame without checksums
    private long unsummed;

    /**
     * Creates an empty queue.
     *
     * @param summing computes the checksums of frames; null without checksums
     * @param described whether frames are sent by {@link #fill} rather than {@link #copy}
     * @param staged stages payloads in memory of a device
     */
    OutboundFrames(@Nullable LoopScratch summing, boolean described, StagedSends staged) {
        this.staged = staged;
        this.sum = summing == null ? null : summing.sum();
        this.payloadSum = summing == null ? null : summing.newSum();
        this.sumsBytes = sum == null ? 0 : FrameHeader.SUMS_BYTES;
        this.copiesSmall = described && sum == null;
    }

    private static MemorySegment allocate(int frames) {
        return Arena.ofAuto().allocate((long) frames * SLOT_BYTES, Long.BYTES);
    }

    boolean isEmpty() {
        return head == tail;
    }

    int size() {
        return (int) (tail - head);
    }

    void add(
            int operation,
            int status,
            long handle,
            long key,
            long epoch,
            long offset,
            long length,
            long payloadAddress,
            long payloadLength) {
        if (tail - head > mask) {
            grow();
        }
        int slot = (int) tail & mask;
        operations[slot] = (byte) operation;
        payloadAddresses[slot] = payloadAddress;
        payloadLengths[slot] = payloadLength;
        copied[slot] = false;
        FrameHeader.write(headers, headerAt(slot), operation, status, handle, key, epoch, offset, length);
        tail++;
    }

    /** Sets the payload of the last added frame. */
    void payloadIn(RegionMemory of, @Nullable RegisteredMemory registration, long offset) {
        if (!of.isHost()) {
            payloadOf(registration);
            return;
        }
        int slot = (int) (tail - 1) & mask;
        MemorySegment memory = of.segment();
        payloads[slot] = memory;
        payloadOffsets[slot] = offset;
        long length = payloadLengths[slot];
        // if mapped memory is missing, the kernel reports it on sending
        if (copiesSmall && length <= MOST_COPIED_BYTES && !memory.isMapped()) {
            try {
                MemorySegment.copy(memory, offset, headers, headerAt(slot) + headerBytes(slot), length);
                copied[slot] = true;
            } catch (IllegalStateException | InternalError gone) {
                // the memory was freed: sending fails
                copied[slot] = false;
            }
        }
    }

    /** The payload of the last added frame lies in memory of a device, unless it is empty. */
    private void payloadOf(@Nullable RegisteredMemory registration) {
        int slot = (int) (tail - 1) & mask;
        if (registration instanceof StagedMemory device && payloadLengths[slot] > 0) {
            devices[slot] = staged.add(device, payloadAddresses[slot], pages[slot], payloadLengths[slot]);
            deviceFrames++;
        }
    }

    private void removeDevice(int slot) {
        StagedPayload device = devices[slot];
        if (device != null) {
            device.sent(payloadLengths[slot]);
            staged.remove(device);
            devices[slot] = null;
            deviceFrames--;
        }
    }

    /** The last added frame reads from a leased region; ends the lease once the frame has left. Never throws. */
    void lease(ExportedRegion region) {
        leases[(int) (tail - 1) & mask] = region;
    }

    /** Adds the frames of a request without pages. */
    void add(WorkRequest request) {
        switch (request.operation()) {
            case WRITE -> {
                addFrame(
                        request.hasSignal() ? FrameHeader.WRITE_BEFORE_SIGNAL : FrameHeader.WRITE,
                        request,
                        request.localAddress(),
                        request.length());
                payloadIn(request.local(), request.registration(), request.localOffset());
                if (request.hasSignal()) {
                    RemoteKey signal = request.signal();
                    addWord(
                            FrameHeader.SIGNAL_OF_WRITE,
                            signal.handle(),
                            signal.key(),
                            signal.epoch(),
                            request.signalOffset(),
                            WorkRequest.WORD_BYTES,
                            request.signalAddend(),
                            0);
                }
            }
            case PUT -> addWord(FrameHeader.PUT, request);
            case SIGNAL -> addWord(FrameHeader.SIGNAL, request);
            case READ -> addFrame(FrameHeader.READ, request, 0, 0);
            case FETCH_ADD -> addWord(FrameHeader.FETCH_ADD, request);
            case COMPARE_AND_SWAP -> addWord(FrameHeader.COMPARE_AND_SWAP, request);
        }
    }

    private void addFrame(int operation, WorkRequest request, long payloadAddress, long payloadLength) {
        RemoteKey remote = request.remote();
        add(
                operation,
                0,
                remote.handle(),
                remote.key(),
                remote.epoch(),
                request.remoteOffset(),
                request.length(),
                payloadAddress,
                payloadLength);
    }

    private void addWord(int operation, WorkRequest request) {
        RemoteKey remote = request.remote();
        addWord(
                operation,
                remote.handle(),
                remote.key(),
                remote.epoch(),
                request.remoteOffset(),
                request.length(),
                request.operand(),
                request.expected());
    }

    /** Adds the frame of a request with pages. */
    void addPages(WorkRequest request) {
        RemoteKey remote = request.remote();
        PagedPayload payload = newPages().ofRequest(request);
        boolean write = request.operation() == WorkRequest.Opcode.WRITE;
        addPages(
                write ? FrameHeader.WRITE_PAGES : FrameHeader.READ_PAGES,
                remote.handle(),
                remote.key(),
                remote.epoch(),
                request.pages().pageBytes(),
                payload);
        if (write && !request.local().isHost()) {
            payloadOf(request.registration());
        }
    }

    /** Adds the answer to a read of pages; {@link #lease} must follow. */
    void addPages(ExportedRegion region, IncomingTable asked) {
        PagedPayload payload = newPages().ofAsked(region.memory(), asked);
        addPages(FrameHeader.READ_DATA, 0, 0, 0, 0, payload);
        if (!region.memory().isHost()) {
            payloadOf(region.registration());
        }
    }

    private PagedPayload newPages() {
        PagedPayload free = freePages.pollFirst();
        return free == null ? new PagedPayload() : free;
    }

    private void addPages(int operation, long handle, long key, long epoch, long offset, PagedPayload payload) {
        add(operation, 0, handle, key, epoch, offset, payload.bytes(), 0, payload.bytes());
        pages[(int) (tail - 1) & mask] = payload;
    }

    private void freePages(int slot) {
        PagedPayload payload = pages[slot];
        if (payload != null) {
            pages[slot] = null;
            payload.clear();
            freePages.addFirst(payload);
        }
    }

    /** Adds a frame with the longer header and no payload. */
    void addWord(
            int operation, long handle, long key, long epoch, long offset, long length, long operand, long expected) {
        add(operation, 0, handle, key, epoch, offset, length, 0, 0);
        FrameHeader.writeOperands(headers, headerAt((int) (tail - 1) & mask), operand, expected);
    }

    private void grow() {
        int capacity = mask + 1;
        int larger = capacity * 2;
        byte[] newOperations = new byte[larger];
        long[] newAddresses = new long[larger];
        long[] newLengths = new long[larger];
        @Nullable MemorySegment[] newPayloads = new @Nullable MemorySegment[larger];
        long[] newOffsets = new long[larger];
        boolean[] newCopied = new boolean[larger];
        @Nullable StagedPayload[] newDevices = new @Nullable StagedPayload[larger];
        @Nullable PagedPayload[] newPages = new @Nullable PagedPayload[larger];
        @Nullable ExportedRegion[] newLeases = new @Nullable ExportedRegion[larger];
        MemorySegment newHeaders = allocate(larger);
        for (long i = head; i < tail; i++) {
            int from = (int) i & mask;
            int to = (int) i & (larger - 1);
            newOperations[to] = operations[from];
            newAddresses[to] = payloadAddresses[from];
            newLengths[to] = payloadLengths[from];
            newPayloads[to] = payloads[from];
            newOffsets[to] = payloadOffsets[from];
            newCopied[to] = copied[from];
            newDevices[to] = devices[from];
            newPages[to] = pages[from];
            newLeases[to] = leases[from];
            MemorySegment.copy(headers, headerAt(from), newHeaders, headerAt(to), SLOT_BYTES);
        }
        operations = newOperations;
        payloadAddresses = newAddresses;
        payloadLengths = newLengths;
        payloads = newPayloads;
        payloadOffsets = newOffsets;
        copied = newCopied;
        devices = newDevices;
        pages = newPages;
        leases = newLeases;
        headers = newHeaders;
        mask = larger - 1;
    }

    private int headerBytes(int slot) {
        return FrameHeader.bytes(operations[slot]) + sumsBytes;
    }

    private void writeSums(int slot, int payloadSum, MemoryChecksum with) {
        PagedPayload paged = pages[slot];
        if (paged == null) {
            FrameHeader.writeSums(headers, headerAt(slot), payloadSum, with);
        } else {
            FrameHeader.writeSums(headers, headerAt(slot), payloadSum, paged, with);
        }
    }

    /**
     * Continues the checksum of the first frame without one, over at most this many payload bytes; returns how many.
     */
    private long goOnSumming(long most) {
        MemoryChecksum with = sum;
        MemoryChecksum running = payloadSum;
        if (with == null || running == null) {
            throw new IllegalStateException("the connection has no checksums");
        }
        int slot = (int) unsummed & mask;
        PagedPayload paged = pages[slot];
        MemorySegment memory = payloads[slot];
        if (summedBytes == 0) {
            running.reset();
        }
        long before = paged == null ? 0 : paged.tableBytes();
        StagedPayload device = devices[slot];
        long all = paged == null && memory == null && device == null ? 0 : payloadLengths[slot] - before;
        long part = Math.min(most, all - summedBytes);
        if (device != null) {
            part = Math.min(part, SUMMED_OF_DEVICE);
            device.sum(running, before + summedBytes, part);
        } else if (paged != null) {
            paged.sum(running, before + summedBytes, part);
        } else if (memory != null) {
            running.update(memory, payloadOffsets[slot] + summedBytes, part);
        }
        summedBytes += part;
        if (summedBytes < all) {
            return part;
        }
        boolean hasOperands = FrameHeader.bytes(operations[slot]) == FrameHeader.LONGEST_BYTES;
        writeSums(slot, hasOperands ? FrameHeader.operandSum(headers, headerAt(slot), with) : running.value(), with);
        summedBytes = 0;
        unsummed++;
        return part;
    }

    /**
     * Fills the vector with what to send next; returns the number of entries, 0 while the checksum of the first frame
     * is incomplete.
     *
     * @throws IllegalStateException if memory was freed that a checksum needs
     * @throws MissingMemoryException if that memory belongs to a truncated mapped file
     */
    int fill(LoopScratch scratch) {
        if (deviceFrames > 0) {
            staged.stage();
        }
        int entries = 0;
        long skip = sentOfHead;
        long summed = 0;
        long room = DESCRIBED_BYTES;
        for (long i = head; i < tail && room > 0 && entries + 2 <= LoopScratch.VECTOR_ENTRIES; i++) {
            int slot = (int) i & mask;
            if (sum != null && i >= unsummed) {
                summed += goOnSumming(SUMMED_AT_ONCE - summed);
                if (i >= unsummed) {
                    break;
                }
            }
            int header = headerBytes(slot);
            long inSlot = header + (copied[slot] ? payloadLengths[slot] : 0);
            StagedPayload device = devices[slot];
            if (device != null && device.isAwaited(skip - header)) {
                break;
            }
            if (skip < inSlot) {
                scratch.vectorEntry(entries++, headers.address() + headerAt(slot) + skip, inSlot - skip);
                skip = inSlot;
            }
            long done = skip - header;
            PagedPayload paged = pages[slot];
            if (device != null) {
                entries = device.describe(scratch, entries, LoopScratch.VECTOR_ENTRIES, done, room);
                room -= device.described();
                if (done + device.described() < payloadLengths[slot]) {
                    break;
                }
            } else if (paged != null) {
                entries = paged.describe(scratch, entries, LoopScratch.VECTOR_ENTRIES, done, room);
                room -= paged.described();
                if (done + paged.described() < payloadLengths[slot]) {
                    break;
                }
            } else if (done < payloadLengths[slot]) {
                long length = Math.min(payloadLengths[slot] - done, room);
                scratch.vectorEntry(entries++, payloadAddresses[slot] + done, length);
                room -= length;
            }
            skip = 0;
        }
        return entries;
    }

    /** Whether the first frame cannot leave before a device has copied bytes of its payload; throws as {@link #fill}. */
    boolean awaitsDevice() {
        int slot = (int) head & mask;
        StagedPayload device = isEmpty() ? null : devices[slot];
        return device != null && (sum == null || head < unsummed) && device.isAwaited(sentOfHead - headerBytes(slot));
    }

    /**
     * Copies what to send next.
     *
     * @return the number of bytes, 0 while the checksum of the first frame is incomplete
     * @throws IllegalStateException if the memory of a payload was freed
     * @throws MissingMemoryException if that memory belongs to a truncated mapped file
     */
    int copy(MemorySegment to, long room) {
        if (deviceFrames > 0) {
            staged.stage();
        }
        long at = 0;
        long skip = sentOfHead;
        long summed = 0;
        for (long i = head; i < tail && at < room; i++) {
            int slot = (int) i & mask;
            if (sum != null && i >= unsummed) {
                summed += goOnSumming(SUMMED_AT_ONCE - summed);
                if (i >= unsummed) {
                    break;
                }
            }
            int header = headerBytes(slot);
            StagedPayload device = devices[slot];
            if (device != null && device.isAwaited(skip - header)) {
                break;
            }
            long ofHeader = Math.clamp(header - skip, 0, room - at);
            MemorySegment.copy(headers, headerAt(slot) + Math.min(skip, header), to, at, ofHeader);
            at += ofHeader;
            long done = Math.max(skip + ofHeader - header, 0);
            long ofPayload = Math.min(payloadLengths[slot] - done, room - at);
            MemorySegment payload = payloads[slot];
            PagedPayload paged = pages[slot];
            if (ofPayload > 0 && device != null) {
                long taken = device.copyOut(done, to, at, ofPayload);
                at += taken;
                if (taken < ofPayload) {
                    break;
                }
            } else if (ofPayload > 0 && paged != null) {
                paged.copyOut(done, to, at, ofPayload);
                at += ofPayload;
            } else if (ofPayload > 0 && payload != null) {
                FaultCheckedCopy.copy(payload, payloadOffsets[slot] + done, to, at, ofPayload);
                at += ofPayload;
            }
            skip = 0;
        }
        return (int) at;
    }

    /** The operation of the first frame. */
    int firstOperation() {
        return operations[(int) head & mask];
    }

    /** Whether the first frame has been sent in part. */
    boolean isFirstBegun() {
        return sentOfHead > 0;
    }

    /**
     * Subtracts sent bytes from the first frame.
     *
     * @return how many of them belong to later frames, or −1 if the first frame has not left completely
     */
    long sent(long bytes) {
        int slot = (int) head & mask;
        long size = headerBytes(slot) + payloadLengths[slot];
        long sum = sentOfHead + bytes;
        if (sum < size) {
            sentOfHead = sum;
            StagedPayload device = devices[slot];
            if (device != null) {
                device.sent(sum - headerBytes(slot));
            }
            return -1;
        }
        sentOfHead = 0;
        return sum - size;
    }

    long firstPayloadLength() {
        return payloadLengths[(int) head & mask];
    }

    /** Removes the first frame; the caller ends its lease, if any. */
    @Nullable
    ExportedRegion removeFirst() {
        int slot = (int) head & mask;
        ExportedRegion lease = leases[slot];
        leases[slot] = null;
        payloads[slot] = null;
        removeDevice(slot);
        freePages(slot);
        head++;
        sentOfHead = 0;
        return lease;
    }

    /**
     * Turns unsent answers that read from closed regions into refusals.
     *
     * @return how many bytes no longer have to be sent
     */
    long refuseClosed() {
        long dropped = 0;
        for (long i = sentOfHead == 0 ? head : head + 1; i < tail; i++) {
            int slot = (int) i & mask;
            ExportedRegion lease = leases[slot];
            StagedPayload device = devices[slot];
            if (lease != null && !lease.isOpen() && (device == null || !device.isBegun())) {
                leases[slot] = null;
                operations[slot] = FrameHeader.REFUSED;
                dropped += payloadLengths[slot];
                removeDevice(slot);
                payloadLengths[slot] = 0;
                payloads[slot] = null;
                freePages(slot);
                FrameHeader.write(
                        headers,
                        headerAt(slot),
                        FrameHeader.REFUSED,
                        CompletionStatus.UNKNOWN_REGION.code(),
                        0,
                        0,
                        0,
                        0,
                        0);
                if (sum != null && i < unsummed) {
                    writeSums(slot, 0, sum);
                } else if (i == unsummed) {
                    summedBytes = 0;
                }
                lease.release();
            }
        }
        return dropped;
    }

    /** Whether a partly sent answer, or one that a device copies, reads from a closing region. */
    boolean holdsClosedLease() {
        for (long i = head; i < tail; i++) {
            int slot = (int) i & mask;
            StagedPayload device = devices[slot];
            ExportedRegion lease = leases[slot];
            if (lease != null && !lease.isOpen() && (i == head || (device != null && device.isBegun()))) {
                return true;
            }
        }
        return false;
    }

    /** Drops all frames and ends their leases. */
    void clear() {
        while (!isEmpty()) {
            ExportedRegion lease = removeFirst();
            if (lease != null) {
                lease.release();
            }
        }
        staged.clear();
        Arrays.fill(leases, null);
        unsummed = tail;
        summedBytes = 0;
    }

    private static long headerAt(int slot) {
        return (long) slot * SLOT_BYTES;
    }
}
