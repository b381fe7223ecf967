package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.DeviceWords;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.StagedMemory;
import io.sluice.engine.transport.StagingRing;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A frame's payload that lies in memory of a device; before pages there may be a table, which lies in the host's. Used
 * repeatedly, and confined to the connection's loop.
 */
final class StagedPayload {
    private final StagedSends sends;
    private @Nullable StagedMemory device;
    private @Nullable PagedPayload pages;
    private long address;
    private long length;
    // how far it has been given to the device
    private long staged;
    private long described;

    StagedPayload(StagedSends sends) {
        this.sends = sends;
    }

    void begin(StagedMemory memory, long deviceAddress, @Nullable PagedPayload paged, long bytes) {
        device = memory;
        address = deviceAddress;
        pages = paged;
        length = bytes;
        staged = tableBytes();
    }

    void end() {
        device = null;
        pages = null;
        staged = length;
    }

    StagedMemory device() {
        StagedMemory memory = device;
        if (memory == null) {
            throw new IllegalStateException("the payload has ended");
        }
        return memory;
    }

    private long tableBytes() {
        return pages == null ? 0 : pages.tableBytes();
    }

    long staged() {
        return staged;
    }

    /** Whether all of it was given to the device. */
    boolean isStaged() {
        return staged == length;
    }

    /** Whether the device may read of it, or has. */
    boolean isBegun() {
        return staged > tableBytes();
    }

    /** Lets the device copy the next bytes to a piece; how many these are. */
    long stage(StagingRing ring, int piece) {
        long part = Math.min(length - staged, pages == null ? ring.pieceBytes() : pages.fitting(ring.pieceBytes()));
        ring.begin(piece, device(), true);
        if (pages == null) {
            ring.add(address + staged, 0, part);
        } else {
            pages.stage(ring, staged, part);
        }
        ring.end();
        staged += part;
        return part;
    }

    /**
     * Whether the bytes of the device that come next, from a position on, have not been copied yet.
     *
     * @throws IllegalStateException if the device could not copy them
     */
    boolean isAwaited(long position) {
        return sends.available(this, Math.max(position, tableBytes())) == 0;
    }

    /**
     * Describes bytes from a position on, as far as they have been copied.
     *
     * @return the number of entries, with those before
     * @throws IllegalStateException if the device could not copy them
     */
    int describe(LoopScratch scratch, int entries, int mostEntries, long position, long room) {
        int entry = entries;
        long at = position;
        long end = position + Math.min(room, length - position);
        PagedPayload paged = pages;
        if (paged != null && at < paged.tableBytes()) {
            entry = paged.describe(scratch, entry, mostEntries, at, Math.min(end, paged.tableBytes()) - at);
            at += paged.described();
        }
        long bytes;
        while (at < end && entry < mostEntries && (bytes = Math.min(sends.available(this, at), end - at)) > 0) {
            scratch.vectorEntry(entry++, sends.memory().address() + sends.offset(this, at), bytes);
            at += bytes;
        }
        described = at - position;
        return entry;
    }

    /** How many bytes the last call has described. */
    long described() {
        return described;
    }

    /**
     * Copies bytes from a position on to other memory, as far as they are there.
     *
     * @return how many
     * @throws IllegalStateException if the device could not copy them
     */
    long copyOut(long position, MemorySegment to, long toOffset, long most) {
        long at = position;
        long end = position + most;
        PagedPayload paged = pages;
        if (paged != null && at < paged.tableBytes()) {
            long part = Math.min(end, paged.tableBytes()) - at;
            paged.copyOut(at, to, toOffset, part);
            at += part;
        }
        long bytes;
        while (at < end && (bytes = Math.min(sends.available(this, at), end - at)) > 0) {
            MemorySegment.copy(sends.memory(), sends.offset(this, at), to, toOffset + at - position, bytes);
            at += bytes;
        }
        return at - position;
    }

    /**
     * Continues a checksum over bytes from a position on, which is not in the table; they are fetched while the loop waits.
     *
     * @throws IllegalStateException if the memory was freed, or the device fails or offers no access to its words
     */
    void sum(MemoryChecksum sum, long position, long bytes) {
        if (!(device() instanceof DeviceWords words)) {
            throw new IllegalStateException("the device's memory cannot be summed");
        }
        if (pages == null) {
            sum.update(words, address - device().address() + position, bytes);
        } else {
            pages.sum(sum, words, device().address(), position, bytes);
        }
    }

    /** All before a position has been sent. */
    void sent(long position) {
        sends.sent(this, position);
    }
}
