package io.sluice.engine.transport;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The offsets of a transfer's pages, in native memory: those in the local region's memory and in the remote region in
 * this processor's byte order, for copies in C, and the remote ones also in network byte order, for the wire. Filled
 * while the transfer is idle, and read by the transport until its work requests have completed.
 */
public final class PageTable {
    /** The most pages of one work request. */
    public static final int MOST_PAGES = 1024;

    private static final ValueLayout.OfLong OFFSET = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfLong WIRE_OFFSET = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

    private final long pageBytes;
    private final long localBase;
    private final long localLength;
    private final long remoteLength;
    private final @Nullable PageTablePool runsOnce;
    private int pages;
    private PageColumns filled = PageColumns.NONE;
    // filled next, so that a refused list leaves the table unchanged
    private PageColumns spare = PageColumns.NONE;

    /**
     * Creates an empty table.
     *
     * @param pageBytes the length of a page, 1 or more
     * @param localBase the start of the local region or slice in its memory, in bytes
     * @param localLength the length of the local region or slice
     * @param remoteLength the length of the remote region or slice
     */
    public PageTable(long pageBytes, long localBase, long localLength, long remoteLength) {
        this(pageBytes, localBase, localLength, remoteLength, null);
    }

    /**
     * Creates an empty table, possibly of a transfer that runs once.
     *
     * @param pageBytes the length of a page, 1 or more
     * @param localBase the start of the local region or slice in its memory, in bytes
     * @param localLength the length of the local region or slice
     * @param remoteLength the length of the remote region or slice
     * @param runsOnce the pool of the memory, to which {@link #runEnded()} returns it; {@code null} if the table is
     *     filled again
     */
    public PageTable(
            long pageBytes, long localBase, long localLength, long remoteLength, @Nullable PageTablePool runsOnce) {
        if (pageBytes < 1) {
            throw new IllegalArgumentException("a page has at least 1 byte, not " + pageBytes);
        }
        this.pageBytes = pageBytes;
        this.localBase = localBase;
        this.localLength = localLength;
        this.remoteLength = remoteLength;
        this.runsOnce = runsOnce;
    }

    /**
     * Checks and copies page numbers; page n begins at n × the length of a page.
     *
     * @param localPages the page numbers in the local region, one or more
     * @param remotePages the page numbers in the remote region, as many
     * @throws IndexOutOfBoundsException if a page leaves its region; the table is unchanged
     * @throws IllegalArgumentException if there is no page, or the counts differ
     */
    public void fill(int[] localPages, int[] remotePages) {
        needPages(localPages.length, remotePages.length);
        int count = localPages.length;
        PageColumns to = spare(count);
        MemorySegment toLocals = to.locals();
        MemorySegment toRemotes = to.remotes();
        MemorySegment toWire = to.wire();
        long fit = localLength / pageBytes;
        for (int i = 0; i < count; i++) {
            // read once, as another thread may change the caller's array meanwhile
            int number = localPages[i];
            if (number < 0 || number >= fit) {
                throw leaves("local", i, number, fit);
            }
            toLocals.setAtIndex(OFFSET, i, localBase + number * pageBytes);
        }
        fit = remoteLength / pageBytes;
        for (int i = 0; i < count; i++) {
            int number = remotePages[i];
            if (number < 0 || number >= fit) {
                throw leaves("remote", i, number, fit);
            }
            long offset = number * pageBytes;
            toRemotes.setAtIndex(OFFSET, i, offset);
            toWire.setAtIndex(WIRE_OFFSET, i, offset);
        }
        publish(to, count);
    }

    /**
     * Checks and copies offsets.
     *
     * @param localOffsets the offsets of the pages in the local region, in bytes, one or more
     * @param remoteOffsets the offsets of the pages in the remote region, in bytes, as many
     * @throws IndexOutOfBoundsException if a page leaves its region; the table is unchanged
     * @throws IllegalArgumentException if there is no page, or the counts differ
     */
    public void fill(long[] localOffsets, long[] remoteOffsets) {
        needPages(localOffsets.length, remoteOffsets.length);
        int count = localOffsets.length;
        PageColumns to = spare(count);
        MemorySegment toLocals = to.locals();
        MemorySegment toRemotes = to.remotes();
        MemorySegment toWire = to.wire();
        long last = localLength - pageBytes;
        for (int i = 0; i < count; i++) {
            long offset = localOffsets[i];
            if (offset < 0 || offset > last) {
                throw leavesAt("local", i, offset, localLength);
            }
            toLocals.setAtIndex(OFFSET, i, localBase + offset);
        }
        last = remoteLength - pageBytes;
        for (int i = 0; i < count; i++) {
            long offset = remoteOffsets[i];
            if (offset < 0 || offset > last) {
                throw leavesAt("remote", i, offset, remoteLength);
            }
            toRemotes.setAtIndex(OFFSET, i, offset);
            toWire.setAtIndex(WIRE_OFFSET, i, offset);
        }
        publish(to, count);
    }

    private static void needPages(int locals, int remotes) {
        if (locals == 0) {
            throw new IllegalArgumentException("a transfer of pages has at least one page");
        }
        if (locals != remotes) {
            throw new IllegalArgumentException("each page needs a local and a remote position: there are " + locals
                    + " local and " + remotes + " remote ones");
        }
    }

    private IndexOutOfBoundsException leaves(String side, int page, int number, long fit) {
        return new IndexOutOfBoundsException(
                "page " + page + " of the list leaves the " + side + " region: it is number " + number
                        + ", and the region has " + fit + " pages of " + pageBytes + " bytes");
    }

    private IndexOutOfBoundsException leavesAt(String side, int page, long offset, long length) {
        return new IndexOutOfBoundsException("page " + page + " of the list leaves the " + side + " region: it is "
                + pageBytes + " bytes from " + offset + " on, and the region has " + length + " bytes");
    }

    private PageColumns spare(int count) {
        if (spare.hold(count)) {
            return spare;
        }
        PageTablePool pool = runsOnce;
        return pool == null ? PageColumns.of(count) : pool.take(count);
    }

    private void publish(PageColumns to, int count) {
        spare = filled;
        filled = to;
        pages = count;
    }

    /**
     * Returns whether the table was filled for one run that has ended.
     *
     * @return true after {@link #runEnded()} of a table whose memory comes from a pool, until it is filled again
     */
    public boolean hasRun() {
        return runsOnce != null && !filled.hold(1);
    }

    /**
     * Called when the transfer has ended and no request of it is posted. If it runs once, the offsets must not be read
     * afterwards.
     */
    public void runEnded() {
        PageTablePool pool = runsOnce;
        PageColumns mine = filled;
        if (pool != null && mine.hold(1)) {
            filled = PageColumns.NONE;
            pool.give(mine);
        }
    }

    /**
     * Returns the number of pages.
     *
     * @return 1 or more, once the table was filled
     */
    public int pages() {
        return pages;
    }

    /**
     * Returns the length of a page.
     *
     * @return bytes
     */
    public long pageBytes() {
        return pageBytes;
    }

    /**
     * Returns the offset of a page in the local region's memory.
     *
     * @param page the page's position in the list
     * @return bytes from the memory's start
     */
    public long local(int page) {
        return filled.locals().getAtIndex(OFFSET, page);
    }

    /**
     * Returns the offset of a page in the remote region or slice.
     *
     * @param page the page's position in the list
     * @return bytes from the slice's start
     */
    public long remote(int page) {
        return filled.remotes().getAtIndex(OFFSET, page);
    }

    /**
     * Returns all local offsets.
     *
     * @return 8 bytes each, in this processor's byte order
     */
    public MemorySegment locals() {
        return filled.locals();
    }

    /**
     * Returns all remote offsets.
     *
     * @return 8 bytes each, in this processor's byte order
     */
    public MemorySegment remotes() {
        return filled.remotes();
    }

    /**
     * Returns all remote offsets in the form for the wire.
     *
     * @return 8 bytes each, in network byte order
     */
    public MemorySegment wire() {
        return filled.wire();
    }

    /**
     * Returns how many pages, beginning with one, are adjacent on both sides.
     *
     * @param from the position of the first page in the list
     * @param most the largest result
     * @return 1 to {@code most}
     */
    public int run(int from, int most) {
        return run(from, most, 1);
    }

    /**
     * Returns how many pages, beginning with one, are adjacent on the remote side and in few pieces on the local side.
     *
     * @param from the position of the first page in the list
     * @param most the largest result
     * @param pieces the most pieces, at least 1; adjacent pages are one piece
     * @return 1 to {@code most}
     */
    public int run(int from, int most, int pieces) {
        long remote = remote(from);
        int left = pieces - 1;
        int count = 1;
        while (count < most && remote(from + count) == remote + count * pageBytes) {
            if (local(from + count) != local(from + count - 1) + pageBytes && left-- == 0) {
                break;
            }
            count++;
        }
        return count;
    }
}
