package io.sluice.jni;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

/** Copies of bytes in C, for sizes at which that is faster than Java's {@link MemorySegment#copy}. */
public final class MemoryCopy {
    private static final MethodHandle COPY;

    static {
        NativeLibrary.ensureAvailable();
        COPY = link();
    }

    private MemoryCopy() {}

    /**
     * Copies bytes between two segments of native memory. They may overlap. Safepoints do not wait for it, however long
     * it takes; the segments' arenas cannot be closed meanwhile.
     *
     * @param to the segment to copy to
     * @param toOffset where its first byte goes
     * @param from the segment to copy from
     * @param fromOffset where the first byte comes from
     * @param bytes how many bytes, not negative
     * @throws IndexOutOfBoundsException if the bytes do not lie within both segments
     * @throws IllegalArgumentException if {@code to} is read-only, or a segment lies on the Java heap
     * @throws IllegalStateException if an arena is closed
     * @throws WrongThreadException if an arena is another thread's
     */
    public static void copy(MemorySegment to, long toOffset, MemorySegment from, long fromOffset, long bytes) {
        Objects.checkFromIndexSize(toOffset, bytes, to.byteSize());
        Objects.checkFromIndexSize(fromOffset, bytes, from.byteSize());
        if (to.isReadOnly()) {
            throw new IllegalArgumentException("the segment to copy to is read-only");
        }
        try {
            COPY.invokeExact(to, toOffset, from, fromOffset, bytes);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("C threw an exception", e);
        }
    }

    /** Segments are passed rather than addresses, so that the linker keeps their arenas open during the call. */
    @SuppressWarnings("restricted") // calling native code is what this package is for
    private static MethodHandle link() {
        return java.lang.foreign.Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.loaderLookup().findOrThrow("sluice_copy"),
                        FunctionDescriptor.ofVoid(
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG));
    }
}
