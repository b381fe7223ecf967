package io.sluice.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Kernel calls on sockets that tests need and the engine never makes. */
public final class KernelSockets {
    private static final int LOCAL = 1;
    private static final int STREAM = 1;
    private static final int SOCKET_LEVEL = 1;
    private static final int FORCED_SEND_BUFFER = 32;
    private static final int TCP_LEVEL = 6;
    private static final int CONGESTION_CONTROL = 13;
    private static final int NAME_BYTES = 16;

    private static final MethodHandle PAIR = function(
            "socketpair",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS));
    private static final MethodHandle GET = function(
            "getsockopt",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.ADDRESS));
    private static final MethodHandle SET = function(
            "setsockopt",
            FunctionDescriptor.of(
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_INT));

    private KernelSockets() {}

    private static MethodHandle function(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type);
    }

    /** Two connected stream sockets within this host: the descriptors. */
    public static int[] pair() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(ValueLayout.JAVA_INT, 2);
            int result = (int) PAIR.invokeExact(LOCAL, STREAM, 0, both);
            if (result != 0) {
                throw new AssertionError("no pair of sockets");
            }
            return both.toArray(ValueLayout.JAVA_INT);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** The name of a tcp socket's congestion control; empty if the descriptor is of none. */
    public static String congestionControl(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocate(NAME_BYTES);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_INT, NAME_BYTES);
            int result = (int) GET.invokeExact(descriptor, TCP_LEVEL, CONGESTION_CONTROL, name, length);
            return result == 0 ? name.getString(0) : "";
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Has a socket take so much before it is full, beyond the system's limit; false if this process may not. */
    public static boolean forceSendBuffer(int descriptor, int bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocateFrom(ValueLayout.JAVA_INT, bytes);
            return (int) SET.invokeExact(descriptor, SOCKET_LEVEL, FORCED_SEND_BUFFER, value, Integer.BYTES) == 0;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
