package io.sluice.engine.transport.verbs;

import io.sluice.jni.NativeLibrary;
import io.sluice.jni.VerbsDevice;
import io.sluice.jni.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.file.Path;

/** A device of the software adapter that moves nothing: it counts what is posted, and completes it when it is polled. */
final class NullDevice {
    private static final String LIBRARY_PROPERTY = "sluice.verbs.library";
    /** Read by the adapter when a device is opened, from the process's environment. */
    private static final String SWITCH = "SOFT_ADAPTER_NULL";

    private NullDevice() {}

    /** Gives its handle, or {@code -errno}. */
    static long open() {
        String cause = VerbsLibrary.load(System.getProperty(LIBRARY_PROPERTY, builtAdapter()));
        if (cause != null) {
            throw new IllegalStateException(cause);
        }
        setEnvironment(SWITCH, "1");
        try {
            return VerbsDevice.open("soft0");
        } finally {
            setEnvironment(SWITCH, "0");
        }
    }

    /** The adapter that the native module's build has made: next to its classes, or next to its jar. */
    private static String builtAdapter() {
        try {
            return Path.of(NativeLibrary.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .resolveSibling("native-objects")
                    .resolve("libsoftadapter.so")
                    .toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Java can set variables for processes that it starts, not for its own. */
    private static void setEnvironment(String name, String value) {
        Linker linker = Linker.nativeLinker();
        MemorySegment setenv = linker.defaultLookup().findOrThrow("setenv");
        FunctionDescriptor type = FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
        try (Arena arena = Arena.ofConfined()) {
            int result = (int) linker.downcallHandle(setenv, type)
                    .invokeExact(arena.allocateFrom(name), arena.allocateFrom(value), 1);
            if (result != 0) {
                throw new IllegalStateException("setenv failed");
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
