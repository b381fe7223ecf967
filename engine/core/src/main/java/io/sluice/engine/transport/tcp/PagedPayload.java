package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.FaultCheckedCopy;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A frame's payload that lies in pages: a table of offsets, if the frame carries one, and then the pages, where they
 * are. Used repeatedly, and confined to the connection's loop.
 */
final class PagedPayload {
    private static final ValueLayout.OfLong OFFSET = ValueLayout.JAVA_LONG;

    // what goes before the pages
    private MemorySegment table = MemorySegment.NULL;
    private long tableFrom;
    private long tableBytes;

    private MemorySegment memory = MemorySegment.NULL;
    private MemorySegment offsets = MemorySegment.NULL;
    private int first;
    private int count;
    private long pageBytes;
    // of an answer: the table that it was asked with is overwritten by the next one
    private MemorySegment own = MemorySegment.NULL;
    private long described;

    /** The table of a request, and behind it the pages if it is a write. */
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

    /** The pages that the answer to a read goes to. */
    PagedPayload ofAnswer(WorkRequest request) {
        pages(request);
        return this;
    }

    private void pages(WorkRequest request) {
        PageTable pages = request.pages();
        memory = request.local().segment();
        offsets = pages.locals();
        first = request.firstPage();
        count = request.pageCount();
        pageBytes = pages.pageBytes();
    }

    /** The pages that the peer writes to. */
    void ofTarget(MemorySegment target, IncomingTable named) {
        memory = target;
        offsets = named.offsets();
        first = 0;
        count = named.count();
        pageBytes = named.pageBytes();
    }

    /** The pages that the peer has asked for. */
    PagedPayload ofAsked(MemorySegment source, IncomingTable named) {
        ofTarget(source, named);
        if (own.byteSize() == 0) {
            own = Arena.ofAuto().allocate((long) PageTable.MOST_PAGES * Long.BYTES, Long.BYTES);
        }
        MemorySegment.copy(named.offsets(), 0, own, 0, (long) count * Long.BYTES);
        offsets = own;
        return this;
    }

    /** Lets go of all memory but its own. */
    void clear() {
        table = MemorySegment.NULL;
        tableBytes = 0;
        memory = MemorySegment.NULL;
        offsets = MemorySegment.NULL;
        count = 0;
    }

    /** How long it is, with the table. */
    long bytes() {
        return tableBytes + count * pageBytes;
    }

    /** How long the table before the pages is. */
    long tableBytes() {
        return tableBytes;
    }

    private long offset(int page) {
        return offsets.getAtIndex(OFFSET, (long) first + page);
    }

    /**
     * Describes bytes from a position on; pages that follow each other are one entry.
     *
     * @return the number of entries, with those before
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
            long address = memory.address();
            while (at < end && entry < mostEntries) {
                long begin = offset(page++) + within;
                long part = pageBytes - within;
                while (page < count && at + part < end && offset(page) == begin + part) {
                    part += pageBytes;
                    page++;
                }
                part = Math.min(part, end - at);
                scratch.vectorEntry(entry++, address + begin, part);
                at += part;
                within = 0;
            }
        }
        described = at - position;
        return entry;
    }

    /** How many bytes the last call has described. */
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
     * @throws io.sluice.engine.transport.MissingMemoryException if it is of a mapped file that was truncated
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

    /** Copies bytes that have come, of which the first belongs to a position, to their pages; throws as {@link #copyOut}. */
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

    /** Continues a checksum over bytes from a position on, which is not in the table; throws as {@link #copyOut}. */
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

    /** Continues a checksum over the table. */
    void sumTable(MemoryChecksum sum) {
        sum.update(table, tableFrom, tableBytes);
    }
}
