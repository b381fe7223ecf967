package io.sluice.engine.transport;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Where the pages of a transfer lie, in native memory: their offsets in the local region's memory and in the remote region, in
 * this processor's byte order for copies in C, and those in the remote region once more in network byte order, as they go over a
 * wire. Filled while the transfer is at rest, and read by the transport until its work requests have completed.
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
    // what is filled next: what is refused half-way leaves the table as it was
    private PageColumns spare = PageColumns.NONE;

    /**
     * Makes an empty one.
     *
     * @param pageBytes how long each page is, 1 or more
     * @param localBase where the local region or slice begins in its memory, in bytes
     * @param localLength how long it is
     * @param remoteLength how long the remote region or slice is
     */
    public PageTable(long pageBytes, long localBase, long localLength, long remoteLength) {
        this(pageBytes, localBase, localLength, remoteLength, null);
    }

    /**
     * Makes an empty one, as the other constructor, perhaps of a transfer that runs once.
     *
     * @param pageBytes how long each page is, 1 or more
     * @param localBase where the local region or slice begins in its memory, in bytes
     * @param localLength how long it is
     * @param remoteLength how long the remote region or slice is
     * @param runsOnce where the memory comes from that {@link #runEnded()} gives back; {@code null} if the table is filled again
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
     * Checks page numbers and takes them over; page n begins at n × the length of a page.
     *
     * @param localPages of the pages in the local region, one or more
     * @param remotePages of the pages in the remote region, as many
     * @throws IndexOutOfBoundsException if a page leaves its region; the table is as it was
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
            // looked at once: another thread may change the caller's array meanwhile
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
     * Checks offsets and takes them over.
     *
     * @param localOffsets of the pages in the local region, in bytes, one or more
     * @param remoteOffsets of the pages in the remote region, in bytes, as many
     * @throws IndexOutOfBoundsException if a page leaves its region; the table is as it was
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
            throw new IllegalArgumentException(
                    "each page needs a local and a remote position: there are " + locals + " local and " + remotes
                            + " remote ones");
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
     * Whether it was filled for one run, and that run has ended.
     *
     * @return true after {@link #runEnded()} of a table whose memory comes from a pool, until it is filled again
     */
    public boolean hasRun() {
        return runsOnce != null && !filled.hold(1);
    }

    /** The transfer has ended and nothing of it is posted any more. If it runs once, no offset may be asked for from here on. */
    public void runEnded() {
        PageTablePool pool = runsOnce;
        PageColumns mine = filled;
        if (pool != null && mine.hold(1)) {
            filled = PageColumns.NONE;
            pool.give(mine);
        }
    }

    /**
     * How many pages there are.
     *
     * @return 1 or more, once it was filled
     */
    public int pages() {
        return pages;
    }

    /**
     * How long each page is.
     *
     * @return bytes
     */
    public long pageBytes() {
        return pageBytes;
    }

    /**
     * Where a page lies in the local region's memory.
     *
     * @param page its place in the list
     * @return bytes from the memory's start
     */
    public long local(int page) {
        return filled.locals().getAtIndex(OFFSET, page);
    }

    /**
     * Where a page lies in the remote region or slice.
     *
     * @param page its place in the list
     * @return bytes from the slice's start
     */
    public long remote(int page) {
        return filled.remotes().getAtIndex(OFFSET, page);
    }

    /**
     * All local offsets, from the first page on.
     *
     * @return 8 bytes each, in this processor's byte order
     */
    public MemorySegment locals() {
        return filled.locals();
    }

    /**
     * All remote offsets, from the first page on.
     *
     * @return 8 bytes each, in this processor's byte order
     */
    public MemorySegment remotes() {
        return filled.remotes();
    }

    /**
     * All remote offsets, from the first page on, as they go over a wire.
     *
     * @return 8 bytes each, in network byte order
     */
    public MemorySegment wire() {
        return filled.wire();
    }

    /**
     * How many pages from one on follow each other on both sides.
     *
     * @param from the first, by its place in the list
     * @param most no more than so many
     * @return 1 to {@code most}
     */
    public int run(int from, int most) {
        return run(from, most, 1);
    }

    /**
     * How many pages from one on follow each other on the remote side, and are in few pieces on the local one.
     *
     * @param from the first, by its place in the list
     * @param most no more than so many
     * @param pieces the most pieces, at least 1; pages that follow each other are one
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
