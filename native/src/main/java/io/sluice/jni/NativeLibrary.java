package io.sluice.jni;

import org.jspecify.annotations.Nullable;

/**
 * Loads Sluice's native library once, on first use of this class.
 *
 * <p>Search order: the file named by the system property {@code sluice.native.path} (if it is set, nothing else is
 * tried); {@code libsluice.so} on {@code java.library.path}; the copy in Sluice's own jar.
 *
 * <p>That copy is extracted into a private folder (mode 0700) below the folder named by {@code sluice.native.tmpdir},
 * or else {@code java.io.tmpdir}, and deleted as soon as it is loaded. The folder must not be on a file system mounted
 * {@code noexec}.
 *
 * <p>Linux on x86_64 and aarch64 is supported.
 */
public final class NativeLibrary {
    private static final LoadOutcome OUTCOME = NativeLoader.forThisMachine().load();

    private NativeLibrary() {}

    /**
     * Returns whether the native library is loaded and has the right version.
     *
     * @return whether the other classes of this package can be used
     */
    public static boolean isAvailable() {
        return OUTCOME.cause() == null;
    }

    /**
     * Returns why the native library is not available.
     *
     * @return the cause, with each failed attempt as a suppressed exception; {@code null} if the library is available
     */
    public static @Nullable Throwable unavailabilityCause() {
        return OUTCOME.cause();
    }

    /**
     * Checks that the native library is available.
     *
     * @throws IllegalStateException if it is not; the message lists the attempts and the remedy, the cause is {@link
     *     #unavailabilityCause()}
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
     * @return its interface version, platform and compiler, for example {@code 6 linux-x86_64 gcc 12.2.0}
     * @throws IllegalStateException if the library is not available
     */
    public static String version() {
        ensureAvailable();
        return Shim.ABI_VERSION + " " + Shim.description();
    }

    /** The file from which the library was loaded, for diagnosis; empty if it was not loaded. */
    static String origin() {
        return OUTCOME.origin();
    }
}
