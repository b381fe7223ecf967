package io.sluice.collectives.link;

import io.sluice.jni.MemoryCopy;
import java.lang.foreign.MemorySegment;

/** Copies between memory of this process, also mapped memory of a peer. Any thread. */
public final class Copy {
    // below it a call of C costs more than it saves
    private static final long IN_C_BYTES = 32 << 10;

    private Copy() {}

    /** Copies; an {@link IllegalStateException} says that one of the segments has ended. */
    public static void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long length) {
        copy(from, fromOffset, to, toOffset, length, false);
    }

    /**
     * Copies ranges that do not overlap.
     *
     * @param streaming whether to store past the caches
     */
    public static void copy(
            MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long length, boolean streaming) {
        // in C a file of the user that is too short would end the process
        if (length < IN_C_BYTES || from.isMapped() || to.isMapped() || !from.isNative() || !to.isNative()) {
            MemorySegment.copy(from, fromOffset, to, toOffset, length);
        } else if (streaming) {
            MemoryCopy.copyPastCaches(to, toOffset, from, fromOffset, length);
        } else {
            MemoryCopy.copy(to, toOffset, from, fromOffset, length);
        }
    }
}
