package io.sluice.engine.transport.tcp;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.MemoryChecksum;
import io.sluice.engine.transport.PageTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The table of pages of the frame that is coming in, with the frame's header. Nothing in it is trusted until all of it has come
 * and was checked. Confined to the connection's loop.
 */
final class IncomingTable {
    private static final ValueLayout.OfLong OFFSET = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfLong WIRE_OFFSET = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    // so that the length of all pages is a number
    private static final long LONGEST_PAGE = Long.MAX_VALUE / (2 * PageTable.MOST_PAGES);

    private final MemorySegment header = Arena.ofAuto().allocate(FrameHeader.LONGEST_BYTES, Long.BYTES);
    // made when the first one comes
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
            throw new ProtocolException("a frame with pages of " + pageBytes + " bytes");
        }
        long bytesAPage = Long.BYTES + (isWrite() ? pageBytes : 0);
        long pages = length / bytesAPage;
        if (pages < 1 || pages > PageTable.MOST_PAGES || pages * bytesAPage != length) {
            throw new ProtocolException(
                    "a frame of " + length + " bytes that is none of 1 to " + PageTable.MOST_PAGES + " pages");
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

    /** Whether there is one that has not come in full. */
    boolean isIncoming() {
        return remaining > 0;
    }

    long remaining() {
        return remaining;
    }

    /** Takes what has come of it; returns how many bytes. */
    long take(MemorySegment from, long at, long available) {
        long part = Math.min(remaining, available);
        MemorySegment.copy(from, at, table, (long) count * Long.BYTES - remaining, part);
        remaining -= part;
        return part;
    }

    /** Whether header and table are as they were sent; before {@link #toNativeOrder}. */
    boolean isIntact(MemoryChecksum sum) {
        return FrameHeader.isIntact(header, 0, sum, table, (long) count * Long.BYTES);
    }

    void toNativeOrder() {
        for (int i = 0; i < count; i++) {
            table.setAtIndex(OFFSET, i, table.getAtIndex(WIRE_OFFSET, i));
        }
    }

    /** Whether every page lies within so many bytes. */
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

    /** The table in this processor's byte order, once it is complete. */
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

    /** How long all pages are. */
    long bytes() {
        return count * pageBytes;
    }

    /** The lane ends. */
    void drop() {
        remaining = 0;
    }
}
