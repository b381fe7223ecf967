package io.sluice.comm.rounds;

import io.sluice.experts.BackendUnavailableException;
import io.sluice.jni.DynamicLibrary;
import io.sluice.jni.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The functions of a library that is opened at run time. */
public final class Functions {
    private static final Linker LINKER = Linker.nativeLinker();

    private final String file;
    private final DynamicLibrary library;

    /**
     * Opens a library.
     *
     * @param file its path or name
     * @param variables of the environment that it is to see, each {@code NAME=value}
     * @throws BackendUnavailableException if it cannot be opened
     */
    public Functions(String file, List<String> variables) {
        Throwable unavailable = NativeLibrary.unavailabilityCause();
        if (unavailable != null) {
            throw new BackendUnavailableException(String.valueOf(unavailable.getMessage()));
        }
        this.file = file;
        this.library = DynamicLibrary.open(file, variables);
        String cause = library.cause();
        if (cause != null) {
            throw new BackendUnavailableException(cause);
        }
    }

    /**
     * Finds out whether a library could be used, without lasting effect.
     *
     * @param file its path or name
     * @param symbols the functions that are needed, at most 16
     * @return {@code null} if it has them, else why it could not be used
     */
    public static @Nullable String whyUnusable(String file, List<String> symbols) {
        return DynamicLibrary.whyUnusable(file, symbols);
    }

    /**
     * Returns the file.
     *
     * @return its path or name
     */
    public String file() {
        return file;
    }

    /**
     * Returns a function.
     *
     * @param symbol its name
     * @param descriptor its result and parameters
     * @return a handle to call it by
     * @throws BackendUnavailableException if the library lacks it
     */
    public MethodHandle function(String symbol, FunctionDescriptor descriptor) {
        MethodHandle found = find(symbol, descriptor);
        if (found == null) {
            throw new BackendUnavailableException(file + " lacks the function " + symbol + ": use a newer one");
        }
        return found;
    }

    /**
     * Returns a function that a library may lack.
     *
     * @param symbol its name
     * @param descriptor its result and parameters
     * @return a handle to call it by, or {@code null}
     */
    public @Nullable MethodHandle find(String symbol, FunctionDescriptor descriptor) {
        long address = library.address(symbol);
        return address == 0 ? null : LINKER.downcallHandle(MemorySegment.ofAddress(address), descriptor);
    }
}
