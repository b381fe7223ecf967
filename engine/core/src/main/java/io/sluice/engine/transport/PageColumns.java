package io.sluice.engine.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The native memory of a table of pages: three offsets for each.
 *
 * @param locals in the local region's memory
 * @param remotes in the remote region
 * @param wire the same in network byte order
 */
record PageColumns(MemorySegment locals, MemorySegment remotes, MemorySegment wire) {
    static final PageColumns NONE = new PageColumns(MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL);

    /** For so many pages. */
    static PageColumns of(int pages) {
        long bytes = (long) pages * Long.BYTES;
        // the collector gives it back once no work request reads it any more
        MemorySegment all = Arena.ofAuto().allocate(3 * bytes, Long.BYTES);
        return new PageColumns(all.asSlice(0, bytes), all.asSlice(bytes, bytes), all.asSlice(2 * bytes, bytes));
    }

    boolean hold(int pages) {
        return locals.byteSize() >= (long) pages * Long.BYTES;
    }
}
