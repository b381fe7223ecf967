package io.sluice.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/**
 * The system's {@code libibverbs}, through which RDMA adapters are reached. Sluice is not linked to it: it is opened when
 * {@link #load} asks for it, so that one build serves machines with and without RDMA.
 *
 * <p>The classes {@code Verbs…} are what libibverbs offers, as it offers it. Its objects are handles: raw addresses as
 * positive {@code long}s, which no two living objects share. The handle 0 gives {@code -EINVAL}; a handle that is no
 * longer, or never was, an object of the kind that a method wants crashes the process. Whoever has a handle has loaded
 * the library, so nothing but {@link VerbsDevice#names} and {@link VerbsDevice#open} checks that. Records must be aligned
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
     * whatever it asks for. It is never unloaded.
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

    private static native byte @Nullable [] open(byte @Nullable [] path);
}
