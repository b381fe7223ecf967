package io.sluice.jni;

import static io.sluice.jni.Downcall.INT;
import static io.sluice.jni.Downcall.LONG;
import static io.sluice.jni.Downcall.MEMORY;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Moves tokens between rows and messages of expert parallelism, in C: with AVX-512 or AVX2 where the processor has them, and
 * with the same bits on every processor. Any thread; a call does the rows it is given and nothing more, so a thread that
 * others wait for passes few.
 *
 * <p>A <i>row</i> is a token's vector of {@code hidden} channels, a multiple of {@link #GROUP}. Row {@code i} begins at
 * {@code offset + i * stride} of its segment; no address has to be aligned. A call does the rows {@code first} to {@code
 * first + count - 1}, so a long array can be done in slices with the same offsets.
 *
 * <p>A <i>message</i> is {@link #HEADER_BYTES} of header (the token's index at its source as an integer of 4 bytes, then
 * zeros), the payload, and for {@code FLOAT8} a float32 scale for each {@link #GROUP} channels.
 *
 * <p>8-bit floats are e4m3fn, as NVIDIA's GPUs and DeepEP have them: {@code code = e4m3fn(x * scale)}, to nearest even and
 * saturating at 448, where for each group amax = max(|x|, 1e-4) and
 *
 * <ul>
 *   <li>{@link #EXACT}: {@code scale = 448 / amax}, and what is written is {@code amax * fl32(1/448)}, both in float32;
 *   <li>{@link #ROUNDED}: {@code scale = 2^-e}, and 2^e is written, with {@code e = ceil(log2(amax * fl32(1/448)))};
 *   <li>{@link #PACKED}: as {@code ROUNDED}, and four groups' biased exponents e + 127 are written as one integer of 4 bytes,
 *       the first group's in its lowest byte; those of missing groups are 0.
 * </ul>
 *
 * <p>A NaN does not count for amax and has the code 0x7f. A group with an infinity has infinity for its scale (255 as an
 * exponent), codes of 0x7f for the infinities and NaNs, and zeros of the same sign for all others.
 *
 * <p>In tables an index below 0 means no row. An index that names no row of its segment ends the call there, with an exception;
 * so a table in memory that others write to cannot lead a call out of a segment. All methods throw {@link
 * IllegalArgumentException} for a segment on the Java heap, one to write to that is read-only, or a size or form out of its
 * range; {@link IndexOutOfBoundsException} for rows beyond their segment; {@link IllegalStateException} for a closed arena; and
 * {@link WrongThreadException} for an arena of another thread. Arenas cannot be closed meanwhile. What is read and what is
 * written must not overlap.
 */
public final class ExpertKernels {
    /** Channels that share a scale. */
    public static final int GROUP = 128;

    /** Bytes before a message's payload. */
    public static final int HEADER_BYTES = 16;

    /** The most channels of a row. */
    public static final int MAX_HIDDEN = 1 << 20;

    /** Form of payloads: bfloat16, 2 bytes a channel. */
    public static final int BFLOAT16 = 0;

    /** Form of payloads: float32, 4 bytes a channel. */
    public static final int FLOAT32 = 1;

    /** Form of payloads: LogFMT of 10 bits, of a varying size; see {@link LogFmt}. */
    public static final int LOGFMT = 2;

    /** Form of scales: exact float32. */
    public static final int EXACT = 0;

    /** Form of scales: powers of two as float32. */
    public static final int ROUNDED = 1;

    /** Form of scales: powers of two as exponents, four in an integer. */
    public static final int PACKED = 2;

    /** Form of scales: none, so the payload is bfloat16. */
    public static final int NONE = 3;

    private static final int SCALE_BYTES = 4;
    private static final int PACKED_GROUPS = 4;

    private static final MethodHandle PACK =
            Downcall.handle("sluice_experts_pack", MEMORY, LONG, LONG, MEMORY, LONG, LONG, INT, INT, INT, INT);
    private static final MethodHandle QUANTIZE = Downcall.handle(
            "sluice_experts_quantize",
            MEMORY,
            LONG,
            LONG,
            MEMORY,
            LONG,
            LONG,
            LONG,
            MEMORY,
            LONG,
            LONG,
            INT,
            INT,
            INT,
            INT);
    private static final MethodHandle DEQUANTIZE = Downcall.handle(
            "sluice_experts_dequantize",
            MEMORY,
            LONG,
            LONG,
            INT,
            MEMORY,
            LONG,
            LONG,
            MEMORY,
            LONG,
            LONG,
            LONG,
            INT,
            INT,
            INT,
            INT);
    private static final MethodHandle UNPACK = Downcall.handle(
            "sluice_experts_unpack",
            MEMORY,
            LONG,
            LONG,
            MEMORY,
            LONG,
            LONG,
            LONG,
            MEMORY,
            LONG,
            MEMORY,
            LONG,
            LONG,
            LONG,
            MEMORY,
            LONG,
            INT,
            INT,
            INT,
            INT,
            INT);
    private static final MethodHandle COPY = Downcall.handle(
            "sluice_experts_copy",
            MEMORY,
            LONG,
            LONG,
            LONG,
            MEMORY,
            LONG,
            MEMORY,
            LONG,
            LONG,
            LONG,
            MEMORY,
            LONG,
            LONG,
            INT,
            INT,
            INT);
    private static final MethodHandle GATHER =
            Downcall.handle("sluice_experts_gather", MEMORY, LONG, LONG, MEMORY, LONG, LONG, INT, INT, INT);

    private ExpertKernels() {}

    /**
     * Returns the size of a message.
     *
     * @param scales {@link #NONE} for a payload of bfloat16, {@link #EXACT} or {@link #ROUNDED} for one of 8-bit floats
     * @param hidden the number of channels
     * @return bytes: the header, the payload and the scales
     * @throws IllegalArgumentException if the form or the number is out of its range
     */
    public static long messageBytes(int scales, int hidden) {
        checkHidden(hidden);
        if (scales < EXACT || scales > NONE || scales == PACKED) {
            throw new IllegalArgumentException("no message has scales of form " + scales);
        }
        return HEADER_BYTES + payloadBytes(scales, hidden) + (scales == NONE ? 0L : scaleBytes(EXACT, hidden));
    }

    /**
     * Writes rows of bfloat16 as messages: row {@code i} to message {@code i}, with {@code i} as the token's index.
     *
     * @param to the segment of the messages
     * @param toOffset where message 0 begins there, in bytes
     * @param toStride bytes from one message to the next
     * @param from the segment of the rows
     * @param fromOffset where row 0 begins there, in bytes
     * @param fromStride bytes from one row to the next
     * @param scales {@link #NONE} to copy, {@link #EXACT} or {@link #ROUNDED} to make 8-bit floats
     * @param hidden the number of channels
     * @param first the first row
     * @param count the number of rows, 0 or more
     */
    public static void pack(
            MemorySegment to,
            long toOffset,
            long toStride,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            int scales,
            int hidden,
            int first,
            int count) {
        Downcall.checkTarget(to);
        Downcall.checkRows(to, toOffset, toStride, messageBytes(scales, hidden), first, count);
        Downcall.checkRows(from, fromOffset, fromStride, 2L * hidden, first, count);
        long done;
        try {
            done = (long) PACK.invokeExact(
                    to, toOffset, toStride, from, fromOffset, fromStride, scales, hidden, first, count);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    /**
     * Makes 8-bit floats of rows of bfloat16. The scale of row {@code i} and group {@code g} goes to {@code scalesOffset + i *
     * scalesRowStride + g * scalesGroupStride}; of {@link #PACKED} scales {@code g} counts fours of groups.
     *
     * @param to the segment of the codes, a byte a channel
     * @param toOffset where row 0 begins there, in bytes
     * @param toStride bytes from one row of codes to the next
     * @param scales the segment of the scales
     * @param scalesOffset where the first scale of row 0 lies there, in bytes
     * @param scalesRowStride bytes from a row's scale to the next row's
     * @param scalesGroupStride bytes from a scale to the next one of the row
     * @param from the segment of the rows
     * @param fromOffset where row 0 begins there, in bytes
     * @param fromStride bytes from one row to the next
     * @param form {@link #EXACT}, {@link #ROUNDED} or {@link #PACKED}
     * @param hidden the number of channels
     * @param first the first row
     * @param count the number of rows, 0 or more
     */
    public static void quantize(
            MemorySegment to,
            long toOffset,
            long toStride,
            MemorySegment scales,
            long scalesOffset,
            long scalesRowStride,
            long scalesGroupStride,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            int form,
            int hidden,
            int first,
            int count) {
        checkHidden(hidden);
        Downcall.checkTarget(to);
        Downcall.checkTarget(scales);
        Downcall.checkRows(to, toOffset, toStride, hidden, first, count);
        checkScales(scales, scalesOffset, scalesRowStride, scalesGroupStride, form, hidden, first, count);
        Downcall.checkRows(from, fromOffset, fromStride, 2L * hidden, first, count);
        long done;
        try {
            done = (long) QUANTIZE.invokeExact(
                    to,
                    toOffset,
                    toStride,
                    scales,
                    scalesOffset,
                    scalesRowStride,
                    scalesGroupStride,
                    from,
                    fromOffset,
                    fromStride,
                    form,
                    hidden,
                    first,
                    count);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    /**
     * Makes floats of 8-bit floats: the code's value times the written scale, rounded to float32, and for bfloat16 once more.
     *
     * @param to the segment of the floats
     * @param toOffset where row 0 begins there, in bytes
     * @param toStride bytes from one row to the next
     * @param toForm {@link #BFLOAT16} or {@link #FLOAT32}
     * @param from the segment of the codes
     * @param fromOffset where row 0 begins there, in bytes
     * @param fromStride bytes from one row of codes to the next
     * @param scales the segment of the scales, laid out as by {@link #quantize}
     * @param scalesOffset where the first scale of row 0 lies there, in bytes
     * @param scalesRowStride bytes from a row's scale to the next row's
     * @param scalesGroupStride bytes from a scale to the next one of the row
     * @param form {@link #EXACT}, {@link #ROUNDED} or {@link #PACKED}
     * @param hidden the number of channels
     * @param first the first row
     * @param count the number of rows, 0 or more
     */
    public static void dequantize(
            MemorySegment to,
            long toOffset,
            long toStride,
            int toForm,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            MemorySegment scales,
            long scalesOffset,
            long scalesRowStride,
            long scalesGroupStride,
            int form,
            int hidden,
            int first,
            int count) {
        checkHidden(hidden);
        Downcall.checkTarget(to);
        Downcall.checkRows(to, toOffset, toStride, floatBytes(toForm) * hidden, first, count);
        Downcall.checkRows(from, fromOffset, fromStride, hidden, first, count);
        checkScales(scales, scalesOffset, scalesRowStride, scalesGroupStride, form, hidden, first, count);
        long done;
        try {
            done = (long) DEQUANTIZE.invokeExact(
                    to,
                    toOffset,
                    toStride,
                    toForm,
                    from,
                    fromOffset,
                    fromStride,
                    scales,
                    scalesOffset,
                    scalesRowStride,
                    scalesGroupStride,
                    form,
                    hidden,
                    first,
                    count);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    /**
     * Reads messages into packed rows: the payload to row {@code i}, its scales into columns as {@link #quantize} lays them out,
     * and the token's index to element {@code i} of {@code tokens}. With {@link #PACKED} the message's scales are powers of two,
     * of which the exponents are written.
     *
     * @param to the segment of the payloads
     * @param toOffset where row 0 begins there, in bytes
     * @param toStride bytes from one row to the next
     * @param scales the segment of the scales; not used with {@link #NONE}
     * @param scalesOffset where the first scale of row 0 goes there, in bytes
     * @param scalesRowStride bytes from a row's scale to the next row's
     * @param scalesGroupStride bytes from a scale to the next one of the row
     * @param tokens the segment of the tokens' indices, 4 bytes each
     * @param tokensOffset where that of row 0 goes there, in bytes
     * @param from the segment of the messages
     * @param fromOffset where message 0 begins there, in bytes
     * @param fromStride bytes from one message to the next, at least 1
     * @param indices which message is row {@code i}: integers of 4 bytes; {@code null} for message {@code i}
     * @param indicesOffset where that of row 0 lies there, in bytes
     * @param form {@link #NONE} for payloads of bfloat16, else how to write the scales of 8-bit floats
     * @param hidden the number of channels
     * @param first the first row
     * @param count the number of rows, 0 or more
     * @param pastCaches whether to store payloads past the caches: where more is written than they hold and none of it is read
     *     soon
     */
    public static void unpack(
            MemorySegment to,
            long toOffset,
            long toStride,
            @Nullable MemorySegment scales,
            long scalesOffset,
            long scalesRowStride,
            long scalesGroupStride,
            MemorySegment tokens,
            long tokensOffset,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            @Nullable MemorySegment indices,
            long indicesOffset,
            int form,
            int hidden,
            int first,
            int count,
            boolean pastCaches) {
        long messageBytes = messageBytes(form == PACKED ? EXACT : form, hidden);
        Downcall.checkTarget(to);
        Downcall.checkTarget(tokens);
        Downcall.checkRows(to, toOffset, toStride, payloadBytes(form, hidden), first, count);
        Downcall.checkTable(tokens, tokensOffset, Integer.BYTES, 1, first, count);
        if (form != NONE) {
            MemorySegment columns = Downcall.orNull(scales);
            Downcall.checkTarget(columns);
            checkScales(columns, scalesOffset, scalesRowStride, scalesGroupStride, form, hidden, first, count);
        }
        long messages = Downcall.rowsIn(from, fromOffset, fromStride, messageBytes);
        checkIndices(indices, indicesOffset, first, count);
        long done;
        try {
            done = (long) UNPACK.invokeExact(
                    to,
                    toOffset,
                    toStride,
                    Downcall.orNull(scales),
                    scalesOffset,
                    scalesRowStride,
                    scalesGroupStride,
                    tokens,
                    tokensOffset,
                    from,
                    fromOffset,
                    fromStride,
                    messages,
                    Downcall.orNull(indices),
                    indicesOffset,
                    form,
                    hidden,
                    first,
                    count,
                    pastCaches ? 1 : 0);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    /**
     * Copies rows of bytes: for each {@code i} from {@code first} on, row {@code fromIndices[i]} to row {@code toIndices[i]}.
     *
     * @param to the segment to write to
     * @param toOffset where row 0 begins there, in bytes
     * @param toStride bytes from one row to the next, at least 1
     * @param toIndices integers of 4 bytes; {@code null} for {@code i} itself
     * @param toIndicesOffset where element 0 lies there, in bytes
     * @param from the segment to read
     * @param fromOffset where row 0 begins there, in bytes
     * @param fromStride bytes from one row to the next, at least 1
     * @param fromIndices integers of 4 bytes; {@code null} for {@code i} itself
     * @param fromIndicesOffset where element 0 lies there, in bytes
     * @param bytes the size of a row, 0 or more
     * @param first the first element
     * @param count the number of elements, 0 or more
     * @param pastCaches whether to store past the caches: where more is written than they hold and none of it is read soon
     */
    public static void copyRows(
            MemorySegment to,
            long toOffset,
            long toStride,
            @Nullable MemorySegment toIndices,
            long toIndicesOffset,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            @Nullable MemorySegment fromIndices,
            long fromIndicesOffset,
            long bytes,
            int first,
            int count,
            boolean pastCaches) {
        Downcall.checkTarget(to);
        checkIndices(toIndices, toIndicesOffset, first, count);
        checkIndices(fromIndices, fromIndicesOffset, first, count);
        long toRows = Downcall.rowsIn(to, toOffset, toStride, bytes);
        long fromRows = Downcall.rowsIn(from, fromOffset, fromStride, bytes);
        long done;
        try {
            done = (long) COPY.invokeExact(
                    to,
                    toOffset,
                    toStride,
                    toRows,
                    Downcall.orNull(toIndices),
                    toIndicesOffset,
                    from,
                    fromOffset,
                    fromStride,
                    fromRows,
                    Downcall.orNull(fromIndices),
                    fromIndicesOffset,
                    bytes,
                    first,
                    count,
                    pastCaches ? 1 : 0);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    /**
     * Copies rows of bytes from any memory: for each {@code i} from {@code first} on, from {@code addresses[i]} to row {@code
     * i}. All bytes of a row must be accessible at its address until the return, else the process ends.
     *
     * @param to the segment to write to
     * @param toOffset where row 0 begins there, in bytes
     * @param toStride bytes from one row to the next
     * @param addresses the address of each row, 8 bytes in native byte order, 0 for none; only this process may write to it
     * @param addressesOffset where element 0 lies there, in bytes
     * @param bytes the size of a row, 0 or more
     * @param first the first row
     * @param count the number of rows, 0 or more
     * @param pastCaches whether to store past the caches
     */
    public static void gather(
            MemorySegment to,
            long toOffset,
            long toStride,
            MemorySegment addresses,
            long addressesOffset,
            long bytes,
            int first,
            int count,
            boolean pastCaches) {
        Downcall.checkTarget(to);
        Downcall.checkRows(to, toOffset, toStride, bytes, first, count);
        Downcall.checkTable(addresses, addressesOffset, Long.BYTES, 1, first, count);
        long done;
        try {
            done = (long) GATHER.invokeExact(
                    to, toOffset, toStride, addresses, addressesOffset, bytes, first, count, pastCaches ? 1 : 0);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    static void checkHidden(int hidden) {
        if (hidden < GROUP || hidden > MAX_HIDDEN || hidden % GROUP != 0) {
            throw new IllegalArgumentException(
                    "rows have " + GROUP + " to " + MAX_HIDDEN + " channels, a multiple of " + GROUP + ": " + hidden);
        }
    }

    static long floatBytes(int form) {
        return switch (form) {
            case BFLOAT16 -> Short.BYTES;
            case FLOAT32 -> Float.BYTES;
            default -> throw new IllegalArgumentException("no form of floats: " + form);
        };
    }

    private static long payloadBytes(int scales, int hidden) {
        return scales == NONE ? 2L * hidden : hidden;
    }

    private static int scaleColumns(int form, int hidden) {
        int groups = hidden / GROUP;
        return switch (form) {
            case EXACT, ROUNDED -> groups;
            case PACKED -> (groups + PACKED_GROUPS - 1) / PACKED_GROUPS;
            default -> throw new IllegalArgumentException("no form of scales: " + form);
        };
    }

    private static long scaleBytes(int form, int hidden) {
        return (long) SCALE_BYTES * scaleColumns(form, hidden);
    }

    private static void checkScales(
            MemorySegment scales,
            long offset,
            long rowStride,
            long groupStride,
            int form,
            int hidden,
            int first,
            int count) {
        long last = scaleColumns(form, hidden) - 1L;
        if (groupStride < 0) {
            throw new IllegalArgumentException("a stride below 0: " + groupStride);
        }
        if (count > 0 && last > 0 && groupStride > scales.byteSize() / last) {
            throw new IndexOutOfBoundsException("a stride of " + groupStride + " exceeds the segment of the scales");
        }
        Downcall.checkRows(scales, offset, rowStride, count > 0 ? last * groupStride + SCALE_BYTES : 0, first, count);
    }

    private static void checkIndices(@Nullable MemorySegment indices, long offset, int first, int count) {
        if (indices != null) {
            Downcall.checkTable(indices, offset, Integer.BYTES, 1, first, count);
        } else {
            Downcall.checkCount(first, count);
        }
    }
}
