package io.sluice.engine.transport.tcp;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.engine.transport.StagedMemory;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The payload that is coming in on a lane: where it goes, how much of it is there, and its checksum. Used repeatedly, and
 * confined to the connection's loop.
 */
final class IncomingPayload {
    private final LoopScratch scratch;
    // null: the connection has no checksums
    private final @Nullable MemoryChecksum sum;
    private final StagedReceives staged;
    // of one that lies in pages
    private final PagedPayload pages = new PagedPayload();
    private boolean paged;

    private Kind kind = Kind.NONE;
    private long length;
    private long remaining;
    private MemorySegment target = MemorySegment.NULL;
    private long targetOffset;
    private boolean dropping;
    private @Nullable ExportedRegion lease;
    private CompletionStatus status = CompletionStatus.SUCCESS;
    private int directEntries;

    /** The frame that it belongs to. */
    enum Kind {
        NONE,
        WRITE,
        WRITE_BEFORE_SIGNAL,
        PUT,
        READ_DATA
    }

    IncomingPayload(LoopScratch scratch, boolean summed, StagedReceives staged) {
        this.scratch = scratch;
        this.sum = summed ? scratch.newSum() : null;
        this.staged = staged;
    }

    // ---- the beginning ----

    /** A payload of the peer's begins, which is dropped if it is refused. */
    void beginWrite(Kind frame, long bytes, @Nullable ExportedRegion region, CompletionStatus outcome) {
        begin(frame, bytes);
        status = outcome;
        dropping = outcome != CompletionStatus.SUCCESS;
        lease = dropping ? null : region;
    }

    /** The answer to a read begins. */
    void beginAnswer(WorkRequest request, long bytes) {
        begin(Kind.READ_DATA, bytes);
        status = CompletionStatus.SUCCESS;
        dropping = false;
        if (request.hasPages()) {
            pages.ofAnswer(request);
            goesToPages(request.local(), request.registration());
        } else {
            goesTo(request.local(), request.registration(), request.localOffset());
        }
    }

    private void begin(Kind frame, long bytes) {
        kind = frame;
        length = bytes;
        remaining = bytes;
    }

    /** It goes to memory from an offset on. */
    void goesTo(RegionMemory memory, @Nullable RegisteredMemory registration, long offset) {
        if (memory.isHost()) {
            target = memory.segment();
            targetOffset = offset;
        } else if (registration instanceof StagedMemory device && length > 0) {
            staged.begin(device, memory.address() + offset, null, length);
        }
    }

    /** It goes to the pages of a table. */
    void goesToPages(RegionMemory memory, @Nullable RegisteredMemory registration, IncomingTable table) {
        pages.ofTarget(memory, table);
        goesToPages(memory, registration);
    }

    private void goesToPages(RegionMemory memory, @Nullable RegisteredMemory registration) {
        paged = memory.isHost();
        if (!paged && registration instanceof StagedMemory device) {
            staged.begin(device, 0, pages, length);
        }
    }

    // ---- its bytes ----

    boolean isIncoming() {
        return kind != Kind.NONE;
    }

    /** Whether the signal of its write follows it. */
    boolean isBeforeSignal() {
        return kind == Kind.WRITE_BEFORE_SIGNAL;
    }

    /** How much has not come yet. */
    long remaining() {
        return remaining;
    }

    /** Whether so many bytes at least are to be received straight to where they belong. */
    boolean takesDirectly(long bytes) {
        return kind != Kind.NONE && !dropping && remaining >= bytes;
    }

    /** Describes where the next bytes belong, and behind the last of them so many of the staging memory; how many that are. */
    long askDirect(long tail) {
        if (staged.isActive()) {
            long room = aimAtPiece();
            scratch.vectorEntry(0, target.address() + targetOffset, room);
            directEntries = 1;
            return room;
        }
        if (paged) {
            directEntries = pages.describe(scratch, 0, LoopScratch.VECTOR_ENTRIES - 1, position(), remaining);
            if (pages.described() < remaining) {
                return pages.described();
            }
        } else {
            scratch.vectorEntry(0, target.address() + targetOffset, remaining);
            directEntries = 1;
        }
        scratch.vectorEntry(directEntries++, scratch.staging().address(), tail);
        return remaining + tail;
    }

    /** How many entries the last call has described. */
    int directEntries() {
        return directEntries;
    }

    private long position() {
        return length - remaining;
    }

    /** Bytes have been received straight to where they belong. */
    void placed(long bytes) {
        sumPlaced(bytes);
        targetOffset += bytes;
        remaining -= bytes;
        if (staged.isActive()) {
            staged.placed(bytes);
        }
    }

    /** Sums them while they are still in the processor's caches. */
    private void sumPlaced(long placed) {
        if (sum != null) {
            try {
                if (paged) {
                    pages.sum(sum, position(), placed);
                } else {
                    sum.update(target, targetOffset, placed);
                }
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was truncated
                memoryFault();
            }
        }
    }

    /** Takes so many bytes at most of other memory; fewer while a device has no room for more. */
    long copy(MemorySegment from, long at, long most) {
        if (!staged.isActive() || dropping) {
            copyOn(from, at, most);
            return most;
        }
        long done = 0;
        while (done < most && staged.room() > 0) {
            long part = Math.min(most - done, aimAtPiece());
            copyOn(from, at + done, part);
            staged.placed(part);
            done += part;
        }
        return done;
    }

    private void copyOn(MemorySegment from, long at, long part) {
        if (!dropping && part > 0) {
            try {
                if (paged) {
                    pages.copyIn(from, at, position(), part);
                } else {
                    FaultCheckedCopy.copy(from, at, target, targetOffset, part);
                }
                if (sum != null) {
                    sum.update(from, at, part);
                }
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was truncated
                memoryFault();
            }
            targetOffset += part;
        }
        remaining -= part;
    }

    /** Makes the piece that is being filled the target; how much it takes. */
    private long aimAtPiece() {
        long room = staged.room();
        target = staged.memory();
        targetOffset = staged.offset();
        return room;
    }

    /** Whether it goes to memory of a device. */
    boolean isOfDevice() {
        return staged.isActive();
    }

    /** Whether nothing can be received before a device has copied bytes, or all of them. */
    boolean awaitsDevice() {
        if (!staged.isActive()) {
            return false;
        }
        return remaining == 0 ? !staged.isDone() : !dropping && staged.room() == 0;
    }

    /** Whether payloads for devices come in on this lane: each is waited for, with the bytes behind it. */
    boolean isStaged() {
        return staged.isOpen();
    }

    // ---- the end ----

    /** It has come in full, and a device is done with it. Gives its frame; {@link #endLease} is to follow. */
    Kind end(int announcedSum) {
        Kind ended = kind;
        if (staged.isActive() && staged.hasFailed() && !dropping) {
            status = memoryFaultStatus();
            dropping = true;
        }
        if (sum != null && !dropping && sum.value() != announcedSum) {
            status = CompletionStatus.INTEGRITY;
        }
        forget();
        return ended;
    }

    private void forget() {
        kind = Kind.NONE;
        target = MemorySegment.NULL;
        if (paged || staged.isActive()) {
            paged = false;
            pages.clear();
            staged.end();
        }
    }

    /** The outcome. */
    CompletionStatus status() {
        return status;
    }

    /** How long it was. */
    long length() {
        return length;
    }

    /** A frame begins whose payload may be summed. */
    void resetSum() {
        if (sum != null) {
            sum.reset();
        }
    }

    /** The memory is gone: drops the rest. */
    void memoryFault() {
        dropping = true;
        status = memoryFaultStatus();
        // a device may still write pieces that it was given
        deviceProgressed();
    }

    private CompletionStatus memoryFaultStatus() {
        return kind == Kind.READ_DATA ? CompletionStatus.LOCAL_MEMORY_FAULT : CompletionStatus.REMOTE_MEMORY_FAULT;
    }

    /** The rest of a payload for a closing region is dropped. */
    void regionClosing() {
        if (holdsClosedLease()) {
            dropping = true;
            status = CompletionStatus.UNKNOWN_REGION;
            deviceProgressed();
        }
    }

    /** A device has copied something: a lease that was kept for it alone may end. */
    void deviceProgressed() {
        if (dropping && (!staged.isActive() || staged.isDone())) {
            endLease();
        }
    }

    boolean holdsClosedLease() {
        return lease != null && !lease.isOpen();
    }

    void endLease() {
        ExportedRegion region = lease;
        if (region != null) {
            lease = null;
            region.release();
        }
    }

    /** The lane ends, and no device is at work for it. */
    void close() {
        forget();
        endLease();
    }
}
