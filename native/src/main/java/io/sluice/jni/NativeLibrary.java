package io.sluice.jni;

import org.jspecify.annotations.Nullable;

/**
 * Loads Sluice's native library, once, when this class is first used.
 *
 * <p>The library is looked for in this order: the file that the system property {@code sluice.native.path} names (if it
 * is set, nothing else is tried); {@code libsluice.so} on {@code java.library.path}; the copy in Sluice's own jar.
 *
 * <p>That copy is extracted into a private folder (mode 0700) below the one that {@code sluice.native.tmpdir} names,
 * otherwise below {@code java.io.tmpdir}, and deleted as soon as it is loaded. The folder must not be on a file system
 * mounted {@code noexec}.
 *
 * <p>Linux on x86_64 and aarch64 is supported.
 */
public final class NativeLibrary {
    private static final LoadOutcome OUTCOME = NativeLoader.forThisMachine().load();

    private NativeLibrary() {}

    /**
     * Returns whether the native library is loaded and fits.
     *
     * @return whether the other classes of this package can be used
     */
    public static boolean isAvailable() {
        return OUTCOME.cause() == null;
    }

    /**
     * Tells why the native library is not available.
     *
     * @return the cause, which carries each failed attempt as a suppressed one; {@code null} if the library is
     *     available
     */
    public static @Nullable Throwable unavailabilityCause() {
        return OUTCOME.cause();
    }

    /**
     * Checks that the native library is available.
     *
     * @throws IllegalStateException if it is not; the message says what was tried and what to do, and the cause is
     *     {@link #unavailabilityCause()}
     */
    public static void ensureAvailable() {
        Throwable cause = OUTCOME.cause();
        if (cause != null) {
            throw new IllegalStateException(cause.getMessage(), cause);
        }
    }

    /**
     * Describes the loaded library.
     *
     * @return its interface's version, its platform and its compiler, for example {@code 6 linux-x86_64 gcc 12.2.0}
     * @throws IllegalStateException if the library is not available
     */
    public static String version() {
        ensureAvailable();
        return Shim.ABI_VERSION + " " + Shim.description();
    }

    /** The file that the library was loaded from, for diagnosis; empty if it was not loaded. */
    static String origin() {
        return OUTCOME.origin();
    }
}
