package io.sluice.jni;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Functions of the C shim that take segments, whose arenas stay open during the call, and return a number of rows; and the
 * checks of rows that come before a call.
 */
final class Downcall {
    static final MemoryLayout MEMORY = ValueLayout.ADDRESS;
    static final MemoryLayout LONG = ValueLayout.JAVA_LONG;
    static final MemoryLayout INT = ValueLayout.JAVA_INT;

    private Downcall() {}

    /** Returns the handle of a function that returns a long. */
    @SuppressWarnings("restricted") // calling native code is what this package is for
    static MethodHandle handle(String function, MemoryLayout... arguments) {
        NativeLibrary.ensureAvailable();
        return java.lang.foreign.Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.loaderLookup().findOrThrow(function),
                        FunctionDescriptor.of(ValueLayout.JAVA_LONG, arguments));
    }

    /** Returns a segment for an argument that may be absent. */
    static MemorySegment orNull(@Nullable MemorySegment memory) {
        return memory == null ? MemorySegment.NULL : memory;
    }

    /** Returns the exception to throw for one of an invocation. */
    static RuntimeException failure(Throwable e) {
        if (e instanceof RuntimeException exception) {
            return exception;
        }
        if (e instanceof Error error) {
            throw error;
        }
        throw new AssertionError("C threw an exception", e);
    }

    /** Checks that C did all rows; it stops at the first with an index beyond the rows that there are. */
    static void checkDone(long done, int count) {
        if (done < 0) {
            throw new IllegalArgumentException("a form, a size or a number of operands is out of its range");
        }
        if (done < count) {
            throw new IndexOutOfBoundsException("the index of row " + done + " of the call exceeds the rows");
        }
    }

    static void checkTarget(MemorySegment memory) {
        if (memory.isReadOnly()) {
            throw new IllegalArgumentException("a segment to write to is read-only");
        }
    }

    static void checkCount(int first, int count) {
        Objects.checkFromIndexSize(first, count, Integer.MAX_VALUE);
    }

    /** Checks that rows lie in a segment: row {@code i} has some bytes at {@code offset + i * stride}. */
    static void checkRows(MemorySegment memory, long offset, long stride, long bytes, int first, int count) {
        checkCount(first, count);
        if (stride < 0 || bytes < 0) {
            throw new IllegalArgumentException("a stride or a size is below 0: " + stride + ", " + bytes);
        }
        if (count > 0) {
            long last = first + count - 1L;
            long size = memory.byteSize();
            if (last > 0 && stride > size / last) {
                throw new IndexOutOfBoundsException(
                        "row " + last + " of a stride of " + stride + " exceeds a segment of " + size + " bytes");
            }
            Objects.checkFromIndexSize(offset, last * stride + bytes, size);
        }
    }

    /** Checks that a table has so many elements for each of the rows. */
    static void checkTable(MemorySegment table, long offset, int elementBytes, int perRow, int first, int count) {
        checkRows(table, offset, (long) elementBytes * perRow, (long) elementBytes * perRow, first, count);
    }

    /** Returns how many rows a segment has, of which a table's indices may name any. */
    static long rowsIn(MemorySegment memory, long offset, long stride, long bytes) {
        if (stride < 1 || bytes < 0) {
            throw new IllegalArgumentException("a stride below 1 or a size below 0: " + stride + ", " + bytes);
        }
        long size = memory.byteSize();
        Objects.checkIndex(offset, size + 1);
        return bytes > size - offset ? 0 : (size - offset - bytes) / stride + 1;
    }
}
