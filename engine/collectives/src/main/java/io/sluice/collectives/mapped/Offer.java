package io.sluice.collectives.mapped;

import io.sluice.collectives.mapped.MappedRegions.Given;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The first message of a collective: which regions a rank gives the others to read, and where its buffers begin there. In
 * native byte order, as it stays on this machine. A region that not all ranks are known to have attached comes with its
 * descriptor.
 */
final class Offer {
    static final int USABLE = 1;
    static final int SOURCE = 2;
    static final int TARGET = 4;
    static final int SOURCE_IS_NEW = 8;
    static final int TARGET_IS_NEW = 16;

    private static final int DESCRIPTOR_BYTES = 64;
    private static final long FLAGS_AT = 0;
    private static final long SOURCE_NUMBER_AT = 4;
    private static final long SOURCE_GENERATION_AT = 8;
    private static final long TARGET_NUMBER_AT = 12;
    private static final long TARGET_GENERATION_AT = 16;
    private static final long SOURCE_OFFSET_AT = 24;
    private static final long TARGET_OFFSET_AT = 32;
    private static final int SHORT_BYTES = 40;
    private static final int LONG_BYTES = SHORT_BYTES + 2 * DESCRIPTOR_BYTES;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    private final MemorySegment bytes = MemorySegment.ofArray(new byte[LONG_BYTES]);

    MemorySegment bytes() {
        return bytes;
    }

    int length() {
        return (bytes.get(INT, FLAGS_AT) & (SOURCE_IS_NEW | TARGET_IS_NEW)) == 0 ? SHORT_BYTES : LONG_BYTES;
    }

    /** Makes an offer; without regions the rank gives none, or cannot give them if it is not usable. */
    void set(boolean usable, @Nullable Given source, long sourceOffset, @Nullable Given target, long targetOffset) {
        int flags = usable ? USABLE : 0;
        if (usable && source != null) {
            flags |= SOURCE | (source.known ? 0 : SOURCE_IS_NEW);
            bytes.set(INT, SOURCE_NUMBER_AT, source.number);
            bytes.set(INT, SOURCE_GENERATION_AT, source.generation);
            bytes.set(LONG, SOURCE_OFFSET_AT, sourceOffset);
            put(source, SHORT_BYTES);
        }
        if (usable && target != null) {
            flags |= TARGET | (target.known ? 0 : TARGET_IS_NEW);
            bytes.set(INT, TARGET_NUMBER_AT, target.number);
            bytes.set(INT, TARGET_GENERATION_AT, target.generation);
            bytes.set(LONG, TARGET_OFFSET_AT, targetOffset);
            put(target, SHORT_BYTES + DESCRIPTOR_BYTES);
        }
        bytes.set(INT, FLAGS_AT, flags);
    }

    /** Says where the buffer of the source begins for the next rank that is told. */
    void sourceAt(long offset) {
        bytes.set(LONG, SOURCE_OFFSET_AT, offset);
    }

    private void put(Given region, long at) {
        if (!region.known) {
            MemorySegment.copy(region.descriptor, 0, bytes, ValueLayout.JAVA_BYTE, at, DESCRIPTOR_BYTES);
        }
    }

    /** Reads that of a peer. */
    void read(MemorySegment from, long at) {
        MemorySegment.copy(from, at, bytes, 0, SHORT_BYTES);
        if (length() > SHORT_BYTES) {
            MemorySegment.copy(from, at + SHORT_BYTES, bytes, SHORT_BYTES, LONG_BYTES - SHORT_BYTES);
        }
    }

    boolean has(int flag) {
        return (bytes.get(INT, FLAGS_AT) & flag) != 0;
    }

    int number(boolean target) {
        return bytes.get(INT, target ? TARGET_NUMBER_AT : SOURCE_NUMBER_AT);
    }

    int generation(boolean target) {
        return bytes.get(INT, target ? TARGET_GENERATION_AT : SOURCE_GENERATION_AT);
    }

    long offset(boolean target) {
        return bytes.get(LONG, target ? TARGET_OFFSET_AT : SOURCE_OFFSET_AT);
    }

    byte[] descriptor(boolean target) {
        long at = (long) SHORT_BYTES + (target ? DESCRIPTOR_BYTES : 0);
        return bytes.asSlice(at, DESCRIPTOR_BYTES).toArray(ValueLayout.JAVA_BYTE);
    }
}
