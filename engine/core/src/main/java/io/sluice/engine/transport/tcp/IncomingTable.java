package io.sluice.engine.transport.tcp;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.PageTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The page table of the frame being received, with the frame's header. Not to be trusted before it is complete and
 * checked. Confined to the connection's loop.
 */
final class IncomingTable {
    private static final ValueLayout.OfLong OFFSET = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfLong WIRE_OFFSET = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    // bounds the total length of all pages to a long
    private static final long LONGEST_PAGE = Long.MAX_VALUE / (2 * PageTable.MOST_PAGES);

    private final MemorySegment header = Arena.ofAuto().allocate(FrameHeader.LONGEST_BYTES, Long.BYTES);
    // allocated for the first table
    private MemorySegment table = MemorySegment.NULL;
    private int count;
    private long pageBytes;
    private long remaining;

    /** A frame with a table begins. */
    void begin(MemorySegment from, long at, int headerBytes) {
        MemorySegment.copy(from, at, header, 0, headerBytes);
        long length = FrameHeader.length(header, 0);
        pageBytes = FrameHeader.offset(header, 0);
        if (pageBytes < 1 || pageBytes > LONGEST_PAGE) {
            throw new ProtocolException("the peer sent a frame with pages of " + pageBytes + " bytes");
        }
        long bytesAPage = Long.BYTES + (isWrite() ? pageBytes : 0);
        long pages = length / bytesAPage;
        if (pages < 1 || pages > PageTable.MOST_PAGES || pages * bytesAPage != length) {
            throw new ProtocolException(
                    "the peer sent a frame of " + length + " bytes, not of 1 to " + PageTable.MOST_PAGES + " pages");
        }
        if (table.byteSize() == 0) {
            table = Arena.ofAuto().allocate((long) PageTable.MOST_PAGES * Long.BYTES, Long.BYTES);
        }
        count = (int) pages;
        remaining = pages * Long.BYTES;
    }

    boolean isWrite() {
        return FrameHeader.operation(header, 0) == FrameHeader.WRITE_PAGES;
    }

    /** Whether a table is incomplete. */
    boolean isIncoming() {
        return remaining > 0;
    }

    long remaining() {
        return remaining;
    }

    /** Consumes table bytes from staging memory; returns how many. */
    long take(MemorySegment from, long at, long available) {
        long part = Math.min(remaining, available);
        MemorySegment.copy(from, at, table, (long) count * Long.BYTES - remaining, part);
        remaining -= part;
        return part;
    }

    /** Whether the checksum of header and table matches; call before {@link #toNativeOrder}. */
    boolean isIntact(MemoryChecksum sum) {
        return FrameHeader.isIntact(header, 0, sum, table, (long) count * Long.BYTES);
    }

    void toNativeOrder() {
        for (int i = 0; i < count; i++) {
            table.setAtIndex(OFFSET, i, table.getAtIndex(WIRE_OFFSET, i));
        }
    }

    /** Whether every page lies within a region of this length. */
    boolean fits(long bytes) {
        long last = bytes - pageBytes;
        for (int i = 0; i < count; i++) {
            long offset = table.getAtIndex(OFFSET, i);
            if (offset < 0 || offset > last) {
                return false;
            }
        }
        return true;
    }

    MemorySegment header() {
        return header;
    }

    /** Converts the complete table to native byte order. */
    MemorySegment offsets() {
        return table;
    }

    long firstOffset() {
        return table.getAtIndex(OFFSET, 0);
    }

    int count() {
        return count;
    }

    long pageBytes() {
        return pageBytes;
    }

    /** The total length of the pages. */
    long bytes() {
        return count * pageBytes;
    }

    /** Discards the table when the lane ends. */
    void drop() {
        remaining = 0;
    }
}
