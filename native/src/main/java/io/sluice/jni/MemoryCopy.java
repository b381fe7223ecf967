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
 * Copies in C: for sizes at which C is faster than Java's {@link MemorySegment#copy}, and for memory that may be
 * missing.
 */
public final class MemoryCopy {
    private static final MethodHandle COPY;
    private static final MethodHandle COPY_PAST_CACHES;
    private static final MethodHandle COPY_BY_KERNEL;
    private static final MethodHandle COPY_PAGES;

    static {
        NativeLibrary.ensureAvailable();
        COPY = link("sluice_copy", null);
        COPY_PAST_CACHES = link("sluice_copy_past_caches", null);
        COPY_BY_KERNEL = link("sluice_copy_by_kernel", ValueLayout.JAVA_INT);
        COPY_PAGES = handle(
                "sluice_copy_pages",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG));
    }

    private MemoryCopy() {}

    /**
     * Copies bytes between two segments of native memory, which may overlap. Does not delay safepoints; the segments'
     * arenas cannot be closed meanwhile.
     *
     * @param to the target segment
     * @param toOffset the target offset in bytes
     * @param from the source segment
     * @param fromOffset the source offset in bytes
     * @param bytes the number of bytes, not negative
     * @throws IndexOutOfBoundsException if a range exceeds its segment
     * @throws IllegalArgumentException if {@code to} is read-only, or a segment lies on the Java heap
     * @throws IllegalStateException if an arena is closed
     * @throws WrongThreadException if an arena is confined to another thread
     */
    public static void copy(MemorySegment to, long toOffset, MemorySegment from, long fromOffset, long bytes) {
        check(to, toOffset, from, fromOffset, bytes);
        try {
            COPY.invokeExact(to, toOffset, from, fromOffset, bytes);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("C threw an exception", e);
        }
    }

    /**
     * Copies a piece of a copy that is large as a whole, between two segments that must not overlap: stores past the caches,
     * as {@link #copy} does for a large copy. The bytes are visible to other threads before the return. Does not delay
     * safepoints; the segments' arenas cannot be closed meanwhile.
     *
     * @param to the target segment
     * @param toOffset the target offset in bytes
     * @param from the source segment
     * @param fromOffset the source offset in bytes
     * @param bytes the number of bytes, not negative
     * @throws IndexOutOfBoundsException if a range exceeds its segment
     * @throws IllegalArgumentException if {@code to} is read-only, or a segment lies on the Java heap
     * @throws IllegalStateException if an arena is closed
     * @throws WrongThreadException if an arena is confined to another thread
     */
    public static void copyPastCaches(
            MemorySegment to, long toOffset, MemorySegment from, long fromOffset, long bytes) {
        check(to, toOffset, from, fromOffset, bytes);
        try {
            COPY_PAST_CACHES.invokeExact(to, toOffset, from, fromOffset, bytes);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("C threw an exception", e);
        }
    }

    /**
     * Copies bytes between two segments of native memory, which must not overlap, through the kernel ({@code
     * process_vm_readv} of the own process). Slower than {@link #copy}, but returns an error where a page is missing,
     * such as in a truncated mapped file; {@link #copy} would end the process. The segments' arenas cannot be closed
     * meanwhile.
     *
     * @param to the target segment
     * @param toOffset the target offset in bytes
     * @param from the source segment
     * @param fromOffset the source offset in bytes
     * @param bytes the number of bytes, not negative
     * @return 0, or {@code -errno}: {@code -EFAULT} if memory is missing, in which case some bytes may have been
     *     copied; {@code -ENOSYS} or {@code -EPERM} where the system forbids the call
     * @throws IndexOutOfBoundsException if a range exceeds its segment
     * @throws IllegalArgumentException if {@code to} is read-only, or a segment lies on the Java heap
     * @throws IllegalStateException if an arena is closed
     * @throws WrongThreadException if an arena is confined to another thread
     */
    public static int copyByKernel(MemorySegment to, long toOffset, MemorySegment from, long fromOffset, long bytes) {
        check(to, toOffset, from, fromOffset, bytes);
        try {
            return (int) COPY_BY_KERNEL.invokeExact(to, toOffset, from, fromOffset, bytes);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("C threw an exception", e);
        }
    }

    /**
     * Copies pages of one size between two segments of native memory, in order; they may overlap. Does not delay
     * safepoints; the segments' arenas cannot be closed meanwhile.
     *
     * <p>Not for memory that may be missing, such as that of a file that other processes can truncate: the access would
     * end the process.
     *
     * @param to the target segment
     * @param toOffsets the target offset of each page: native memory with 8 bytes a page in native byte order
     * @param from the source segment
     * @param fromOffsets the source offset of each page, as {@code toOffsets}
     * @param first the index of the first page to copy, in both tables
     * @param count the number of pages, not negative
     * @param pageBytes the page length in bytes, at least 1
     * @return the number of pages copied: less than {@code count} if the next one exceeds its segment
     * @throws IndexOutOfBoundsException if the pages exceed a table
     * @throws IllegalArgumentException if {@code to} is read-only, a segment lies on the Java heap, or {@code pageBytes} is below 1
     * @throws IllegalStateException if an arena is closed
     * @throws WrongThreadException if an arena is confined to another thread
     */
    public static long copyPages(
            MemorySegment to,
            MemorySegment toOffsets,
            MemorySegment from,
            MemorySegment fromOffsets,
            long first,
            long count,
            long pageBytes) {
        Objects.checkFromIndexSize(first, count, toOffsets.byteSize() / Long.BYTES);
        Objects.checkFromIndexSize(first, count, fromOffsets.byteSize() / Long.BYTES);
        if (to.isReadOnly() || pageBytes < 1) {
            throw new IllegalArgumentException(
                    to.isReadOnly() ? "the segment to copy to is read-only" : "a page has at least 1 byte");
        }
        try {
            return (long) COPY_PAGES.invokeExact(
                    to, to.byteSize(), toOffsets, from, from.byteSize(), fromOffsets, first, count, pageBytes);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("C threw an exception", e);
        }
    }

    private static void check(MemorySegment to, long toOffset, MemorySegment from, long fromOffset, long bytes) {
        Objects.checkFromIndexSize(toOffset, bytes, to.byteSize());
        Objects.checkFromIndexSize(fromOffset, bytes, from.byteSize());
        if (to.isReadOnly()) {
            throw new IllegalArgumentException("the segment to copy to is read-only");
        }
    }

    private static MethodHandle link(String function, @Nullable MemoryLayout result) {
        FunctionDescriptor arguments = FunctionDescriptor.ofVoid(
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG);
        return handle(function, result == null ? arguments : arguments.changeReturnLayout(result));
    }

    /** Takes segments rather than addresses, so that the linker keeps their arenas open during the call. */
    @SuppressWarnings("restricted") // calling native code is what this package is for
    private static MethodHandle handle(String function, FunctionDescriptor type) {
        return java.lang.foreign.Linker.nativeLinker()
                .downcallHandle(SymbolLookup.loaderLookup().findOrThrow(function), type);
    }
}
