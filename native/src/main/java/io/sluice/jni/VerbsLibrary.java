package io.sluice.jni;

import org.jspecify.annotations.Nullable;

/**
 * The system's {@code libibverbs}, which drives RDMA adapters. Sluice is not linked to it: {@link #load} opens it, so
 * that one build serves machines with and without RDMA.
 *
 * <p>The classes {@code Verbs…} map libibverbs one to one. Its objects are handles: raw addresses as positive {@code
 * long}s, unique among living objects. The handle 0 returns {@code -EINVAL}; a handle that is invalid or of another
 * kind of object crashes the process. The holder of a handle has loaded the library, so only {@link VerbsDevice#names}
 * and {@link VerbsDevice#open} check that. Records must be aligned to 8 bytes ({@code -EINVAL}) and are in native byte
 * order.
 *
 * <p>Any thread may call any method, and several may do so at once, except while another thread destroys the same
 * object.
 */
public final class VerbsLibrary {
    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsLibrary() {}

    /**
     * Opens the library and resolves its functions. The first call decides: every later one returns the same result,
     * also for another path. The library is never unloaded. This also takes the first list of devices, because that
     * loads the drivers. All of it runs on a thread of its own and changes no signal handler (see {@link #claim}).
     *
     * <p>First sets the environment variables {@code IPATH_NO_BACKTRACE}, {@code HFI_NO_BACKTRACE} and {@code
     * UCX_HANDLE_ERRORS} unless they are set; they keep libraries from handling fault signals.
     *
     * @param path the library's file; {@code null} or empty for {@code libibverbs.so.1} on the dynamic linker's search
     *     path
     * @return {@code null} if the library can be used (with or without a device), otherwise a sentence with the file
     *     that was tried, and why it cannot be loaded or which function it lacks
     */
    public static @Nullable String load(@Nullable String path) {
        return ForeignLibrary.text(open(ForeignLibrary.path(path)));
    }

    /**
     * Returns whether the library, or one that it loaded, tried to handle signals that the process handles itself. A
     * JVM that loses its {@code SIGSEGV} handler ends at the next null check of compiled code, so the kernel refuses
     * such a handler without telling the library. Where it cannot (before Linux 5.0, in some sandboxes), the handlers
     * are restored after the load.
     *
     * @return a sentence with the file and the signals; {@code null} if there were none, or nothing is loaded yet
     */
    public static @Nullable String claim() {
        return ForeignLibrary.claim("libibverbs", claimedSignals(), claimant());
    }

    private static native byte @Nullable [] open(byte @Nullable [] path);

    /** A set whose bit n is signal n. */
    private static native int claimedSignals();

    private static native byte[] claimant();
}
