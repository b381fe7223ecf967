package io.sluice.engine.transport.tcp;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.transport.DeviceWords;
import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.StagingRing;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A frame payload in pages: the offset table, if the frame carries one, followed by the pages in place. Reused;
 * confined to the connection's loop.
 */
final class PagedPayload {
    private static final ValueLayout.OfLong OFFSET = ValueLayout.JAVA_LONG;

    // the table that precedes the pages
    private MemorySegment table = MemorySegment.NULL;
    private long tableFrom;
    private long tableBytes;

    // NULL: of a device
    private MemorySegment memory = MemorySegment.NULL;
    private long base;
    private MemorySegment offsets = MemorySegment.NULL;
    private int first;
    private int count;
    private long pageBytes;
    // for an answer: a copy of the request's table, which the next request overwrites
    private MemorySegment own = MemorySegment.NULL;
    private long described;

    /** The table of a request, followed by the pages if it is a write. */
    PagedPayload ofRequest(WorkRequest request) {
        PageTable pages = request.pages();
        table = pages.wire();
        tableFrom = (long) request.firstPage() * Long.BYTES;
        tableBytes = (long) request.pageCount() * Long.BYTES;
        if (request.operation() == WorkRequest.Opcode.WRITE) {
            pages(request);
        }
        return this;
    }

    /** The local pages that the answer to a read fills. */
    PagedPayload ofAnswer(WorkRequest request) {
        pages(request);
        return this;
    }

    private void pages(WorkRequest request) {
        PageTable pages = request.pages();
        memory(request.local());
        offsets = pages.locals();
        first = request.firstPage();
        count = request.pageCount();
        pageBytes = pages.pageBytes();
    }

    private void memory(RegionMemory of) {
        memory = of.isHost() ? of.segment() : MemorySegment.NULL;
        base = of.address();
    }

    /** The pages that the peer writes. */
    PagedPayload ofTarget(RegionMemory target, IncomingTable named) {
        memory(target);
        offsets = named.offsets();
        first = 0;
        count = named.count();
        pageBytes = named.pageBytes();
        return this;
    }

    /** The pages that the peer reads. */
    PagedPayload ofAsked(RegionMemory source, IncomingTable named) {
        ofTarget(source, named);
        if (own.byteSize() == 0) {
            own = Arena.ofAuto().allocate((long) PageTable.MOST_PAGES * Long.BYTES, Long.BYTES);
        }
        MemorySegment.copy(named.offsets(), 0, own, 0, (long) count * Long.BYTES);
        offsets = own;
        return this;
    }

    /** Drops all references except to its own memory. */
    void clear() {
        table = MemorySegment.NULL;
        tableBytes = 0;
        memory = MemorySegment.NULL;
        offsets = MemorySegment.NULL;
        count = 0;
    }

    /** The length, including the table. */
    long bytes() {
        return tableBytes + count * pageBytes;
    }

    /** The length of the table that precedes the pages. */
    long tableBytes() {
        return tableBytes;
    }

    private long offset(int page) {
        return offsets.getAtIndex(OFFSET, (long) first + page);
    }

    /**
     * Describes bytes from a position on; adjacent pages share one entry.
     *
     * @return the number of entries, including those before
     */
    int describe(LoopScratch scratch, int entries, int mostEntries, long position, long room) {
        int entry = entries;
        long at = position;
        long end = position + Math.min(room, bytes() - position);
        if (at < tableBytes && at < end) {
            long part = Math.min(tableBytes, end) - at;
            scratch.vectorEntry(entry++, table.address() + tableFrom + at, part);
            at += part;
        }
        if (at < end) {
            int page = pageAt(at);
            long within = withinPage(at);
            while (at < end && entry < mostEntries) {
                long begin = offset(page++) + within;
                long part = pageBytes - within;
                while (page < count && at + part < end && offset(page) == begin + part) {
                    part += pageBytes;
                    page++;
                }
                part = Math.min(part, end - at);
                scratch.vectorEntry(entry++, base + begin, part);
                at += part;
                within = 0;
            }
        }
        described = at - position;
        return entry;
    }

    /** How much of a piece whole pages fill; all of it if they are larger. */
    long fitting(long pieceBytes) {
        return pageBytes > pieceBytes ? pieceBytes : pieceBytes - pieceBytes % pageBytes;
    }

    /** Adds the copies between a device's pages and a piece, of bytes from a position on that is not in the table. */
    void stage(StagingRing ring, long position, long length) {
        long at = position;
        long end = position + length;
        while (at < end) {
            long within = withinPage(at);
            long part = Math.min(pageBytes - within, end - at);
            ring.add(base + offset(pageAt(at)) + within, at - position, part);
            at += part;
        }
    }

    /** The number of bytes that the last call described. */
    long described() {
        return described;
    }

    private int pageAt(long position) {
        return (int) ((position - tableBytes) / pageBytes);
    }

    private long withinPage(long position) {
        return (position - tableBytes) % pageBytes;
    }

    /**
     * Copies bytes from a position on to other memory.
     *
     * @throws IllegalStateException if memory was freed
     * @throws io.sluice.engine.transport.MissingMemoryException if it belongs to a truncated mapped file
     */
    void copyOut(long position, MemorySegment to, long toOffset, long length) {
        long at = position;
        long end = position + length;
        if (at < tableBytes) {
            long part = Math.min(tableBytes, end) - at;
            MemorySegment.copy(table, tableFrom + at, to, toOffset, part);
            at += part;
        }
        while (at < end) {
            long within = withinPage(at);
            long part = Math.min(pageBytes - within, end - at);
            FaultCheckedCopy.copy(memory, offset(pageAt(at)) + within, to, toOffset + at - position, part);
            at += part;
        }
    }

    /** Copies received bytes, the first at a position, to their pages; throws as {@link #copyOut}. */
    void copyIn(MemorySegment from, long fromOffset, long position, long length) {
        long at = position;
        long end = position + length;
        while (at < end) {
            long within = withinPage(at);
            long part = Math.min(pageBytes - within, end - at);
            FaultCheckedCopy.copy(from, fromOffset + at - position, memory, offset(pageAt(at)) + within, part);
            at += part;
        }
    }

    /** Continues a checksum over page bytes from a position on; throws as {@link #copyOut}. */
    void sum(MemoryChecksum sum, long position, long length) {
        long at = position;
        long end = position + length;
        while (at < end) {
            long within = withinPage(at);
            long part = Math.min(pageBytes - within, end - at);
            sum.update(memory, offset(pageAt(at)) + within, part);
            at += part;
        }
    }

    /** As {@link #sum(MemoryChecksum, long, long)}, of pages of a device whose region begins at an address. */
    void sum(MemoryChecksum sum, DeviceWords device, long region, long position, long length) {
        long at = position;
        long end = position + length;
        while (at < end) {
            long within = withinPage(at);
            long part = Math.min(pageBytes - within, end - at);
            sum.update(device, base - region + offset(pageAt(at)) + within, part);
            at += part;
        }
    }

    /** Continues a checksum over the table. */
    void sumTable(MemoryChecksum sum) {
        sum.update(table, tableFrom, tableBytes);
    }
}
