package io.sluice.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/**
 * The system's {@code libibverbs}, through which RDMA adapters are reached. Sluice is not linked to it: it is opened when
 * {@link #load} asks for it, so that one build serves machines with and without RDMA.
 *
 * <p>The classes {@code Verbs…} map libibverbs one to one. Its objects are handles: raw addresses as positive
 * {@code long}s, which no two living objects share. The handle 0 gives {@code -EINVAL}; a handle that is no longer, or
 * never was, an object of the kind that a method wants crashes the process. A caller that has a handle has loaded the
 * library, so nothing but {@link VerbsDevice#names} and {@link VerbsDevice#open} checks that. Records must be aligned
 * to 8 bytes ({@code -EINVAL}) and are in native byte order.
 *
 * <p>All of it may be called by any thread, and by several at once, with what libibverbs itself allows: only not while
 * another thread destroys the same object.
 */
public final class VerbsLibrary {
    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsLibrary() {}

    /**
     * Opens the library and finds all its functions. The first call decides: every later one gives the same answer,
     * also for another path. It is never unloaded. The first list of devices is taken here, too, as that loads the
     * drivers; all of it runs on a thread of its own, and changes no handler of a signal (see {@link #claim}).
     *
     * <p>Before that the process's environment gets the variables {@code IPATH_NO_BACKTRACE}, {@code HFI_NO_BACKTRACE} and
     * {@code UCX_HANDLE_ERRORS}, unless it has them already, which keep libraries from handling the signals of faults.
     *
     * @param path the library's file; {@code null} or an empty text for {@code libibverbs.so.1}, which the dynamic linker
     *     looks for where it looks for all libraries
     * @return {@code null} when the library can be used (there need not be any device), otherwise one sentence that says
     *     which file was tried, and why it cannot be loaded or which function it lacks
     */
    public static @Nullable String load(@Nullable String path) {
        byte[] cause = open(path == null ? null : path.getBytes(UTF_8));
        return cause == null ? null : new String(cause, UTF_8);
    }

    /**
     * Returns whether the library, or one that it loaded, wanted to handle signals that the process handles itself. A
     * virtual machine that loses the handler of {@code SIGSEGV} ends at the next null check of compiled code, so the
     * kernel refuses such a handler, unseen by the library. Where it cannot (before Linux 5.0, in some sandboxes), the
     * handlers are put back after the load.
     *
     * @return one sentence that says which file wanted what; {@code null} if there was nothing, or nothing is loaded
     *     yet
     */
    public static @Nullable String claim() {
        int signals = claimedSignals();
        if (signals == 0) {
            return null;
        }
        String file = new String(claimant(), UTF_8);
        return (file.isEmpty() ? "A library that libibverbs loads" : file) + " wanted to handle "
                + SignalNames.of(signals) + "; the handlers of this process were kept or restored";
    }

    private static native byte @Nullable [] open(byte @Nullable [] path);

    /** A set: bit n is signal n. */
    private static native int claimedSignals();

    private static native byte[] claimant();
}
