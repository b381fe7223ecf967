package io.sluice.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory between two pages without access: the processor stops code that leaves it, and the kernel refuses to.
 * Instances alternate between standing right behind the page before and, up to the alignment of words, right before the
 * page after.
 */
public final class GuardedMemory {
    private static final long PAGE = 4096;
    private static final int NO_ACCESS = 0;
    private static final int READ_AND_WRITE = 3;
    private static final int PRIVATE_ANONYMOUS = 0x22;

    private static final AtomicLong MADE = new AtomicLong();
    private static final MethodHandle MAP = function(
            "mmap",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_LONG));
    private static final MethodHandle PROTECT = function(
            "mprotect",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    private static final MethodHandle UNMAP = function(
            "munmap", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

    private GuardedMemory() {}

    private static MethodHandle function(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }

    /** Zeroed memory that stays as long as it is reachable. */
    public static MemorySegment allocate(long bytes) {
        long inner = (Math.max(bytes, 1) + PAGE - 1) / PAGE * PAGE;
        long whole = inner + 2 * PAGE;
        try {
            long address = (long) MAP.invokeExact(0L, whole, NO_ACCESS, PRIVATE_ANONYMOUS, -1, 0L);
            if (address == -1 || (int) PROTECT.invokeExact(address + PAGE, inner, READ_AND_WRITE) != 0) {
                throw new OutOfMemoryError("no guarded memory of " + bytes + " bytes");
            }
            long slack = MADE.getAndIncrement() % 2 == 0 ? 0 : (inner - bytes) / Long.BYTES * Long.BYTES;
            return MemorySegment.ofAddress(address + PAGE + slack)
                    .reinterpret(bytes, Arena.ofAuto(), unused -> unmap(address, whole));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static void unmap(long address, long whole) {
        try {
            int result = (int) UNMAP.invokeExact(address, whole);
            assert result == 0;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
