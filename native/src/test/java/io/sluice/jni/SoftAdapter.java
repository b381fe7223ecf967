package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * The software adapter that takes libibverbs's place in this virtual machine, with its functions beyond libibverbs. A
 * library is loaded once in each virtual machine, so a second adapter needs a second machine.
 */
final class SoftAdapter {
    static final String FIRST_DEVICE = "soft0";
    static final String SECOND_DEVICE = "soft1";

    private static final MethodHandle PORT = function("soft_adapter_port", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    private static final MethodHandle BREAK = function("soft_adapter_break_queue_pair", ValueLayout.JAVA_INT);

    private SoftAdapter() {}

    /** The file that the build makes. */
    static Path file() {
        return ChildJvm.classes().resolveSibling("native-objects").resolve("libsoftadapter.so");
    }

    static void load() {
        assertThat(VerbsLibrary.load(file().toString())).isNull();
    }

    /** Takes a device's port down or up. */
    static void setPort(int device, boolean up) {
        assertThat(call(PORT, device, up ? 1 : 0)).isZero();
    }

    /** Makes a queue pair fail as a broken adapter does. */
    static void breakQueuePair(int number) {
        assertThat(call(BREAK, number)).isZero();
    }

    private static int call(MethodHandle function, Object... arguments) {
        try {
            return (int) function.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle function(String name, MemoryLayout... arguments) {
        var symbol = SymbolLookup.libraryLookup(file(), Arena.global()).findOrThrow(name);
        return Linker.nativeLinker().downcallHandle(symbol, FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
    }
}
