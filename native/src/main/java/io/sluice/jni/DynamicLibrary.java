package io.sluice.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A library that is opened at run time, and whose functions are called by their addresses. It is never unloaded, as it may
 * have threads. Any thread may call any method.
 */
public final class DynamicLibrary {
    private static final int CAUSE_BYTES = 1024;

    static {
        NativeLibrary.ensureAvailable();
    }

    private final long handle;
    private final @Nullable String cause;

    private DynamicLibrary(long handle, @Nullable String cause) {
        this.handle = handle;
        this.cause = cause;
    }

    /**
     * Sets variables of the process's environment, then opens a library. The process keeps its signal handlers, as with
     * {@link VerbsLibrary#load}. Two files are two libraries, also if their contents are equal.
     *
     * @param file its path, or its name on the dynamic linker's search path
     * @param variables at most 16, each as {@code NAME=value}; they replace those that are set, for native code alone
     * @return the library, which may be {@linkplain #cause() unusable}
     */
    public static DynamicLibrary open(String file, List<String> variables) {
        byte[] cause = new byte[CAUSE_BYTES];
        long handle = open(file.getBytes(UTF_8), texts(variables), cause);
        return new DynamicLibrary(handle, handle == 0 ? text(cause) : null);
    }

    /**
     * Finds out whether a library could be used, without lasting effect: it is loaded, as by {@link #open} but without variables,
     * and unloaded unless something else uses it.
     *
     * @param file its path, or its name on the dynamic linker's search path
     * @param functions at most 16 that are needed
     * @return {@code null} if it has them all, else a sentence with the file that says why not
     */
    public static @Nullable String whyUnusable(String file, List<String> functions) {
        byte[] cause = new byte[CAUSE_BYTES];
        return hasAll(file.getBytes(UTF_8), texts(functions), cause) ? null : text(cause);
    }

    private static byte[] texts(List<String> each) {
        return (each.isEmpty() ? "" : String.join("\0", each) + "\0").getBytes(UTF_8);
    }

    private static String text(byte[] cause) {
        return new String(cause, UTF_8).strip().replace("\0", "");
    }

    /**
     * Returns why it cannot be used.
     *
     * @return a sentence with the file, or {@code null} if it is loaded
     */
    public @Nullable String cause() {
        return cause;
    }

    /**
     * Looks a function up.
     *
     * @param name its symbol
     * @return its address; 0 if there is none, or the library is not loaded
     */
    public long address(String name) {
        return handle == 0 ? 0 : find(handle, name.getBytes(UTF_8));
    }

    private static native long open(byte[] file, byte[] variables, byte[] cause);

    private static native boolean hasAll(byte[] file, byte[] functions, byte[] cause);

    private static native long find(long handle, byte[] name);
}
