package io.sluice.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/**
 * The driver of NVIDIA GPUs, {@code libcuda}. Sluice is not linked to it: it is opened when {@link #load} asks for it, so that one
 * build serves machines with and without GPUs.
 *
 * <p>The classes {@code Cuda…} are what the CUDA driver API offers, as it offers it. Their objects are handles: raw addresses as
 * positive {@code long}s, which no two living objects share. The handle 0 gives an error; a handle that is no longer, or never was,
 * an object of the kind that a method wants crashes the process. Only {@link CudaDevice#count}, {@link CudaDevice#query},
 * {@link CudaDevice#link}, {@link CudaDevice#open} and {@link CudaMemory#describe} may be called before the library is loaded.
 * Records must be aligned to 8 bytes and are in native byte order.
 *
 * <p>A negative result is an error, which {@link #errorText} puts into words: the driver's own, negated ({@code CUresult}), or one of
 * the system. Errors are values: nothing here ends the process. An error that stays with the process, such as an illegal address in
 * a kernel, makes every later call fail; {@link CudaDevice#fault} tells it.
 *
 * <p>All of it may be called by any thread, and by several at once, only not while another thread destroys the same object. Each
 * call makes the device's primary context current for as long as it takes; on a thread where {@link CudaDevice#makeCurrent} did so
 * for good that costs one look.
 */
public final class CudaLibrary {
    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaLibrary() {}

    /**
     * Opens the driver and initialises it. The first call decides: every later one gives the same answer, whichever file it asks
     * for. It is never unloaded. The process keeps its signal handlers meanwhile, as with {@link VerbsLibrary#load}.
     *
     * @param path the driver's file; {@code null} or an empty text for {@code libcuda.so.1}, which the dynamic linker looks for
     *     where it looks for all libraries
     * @return {@code null} when the driver can be used, otherwise one sentence that says which file was tried, and why it cannot
     *     be loaded or initialised, as where no device is visible, or which function it lacks
     */
    public static @Nullable String load(@Nullable String path) {
        byte[] cause = open(path == null ? null : path.getBytes(UTF_8));
        return cause == null ? null : new String(cause, UTF_8);
    }

    /**
     * Returns whether the driver, or a library that it loaded, wanted to handle signals that the process handles
     * itself. See {@link VerbsLibrary#claim}.
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
        return (file.isEmpty() ? "A library that libcuda loads" : file) + " wanted to handle " + SignalNames.of(signals)
                + "; the handlers of this process were kept or restored";
    }

    /**
     * Returns the version of the CUDA driver API that the driver has.
     *
     * @return 1000 times the major number and 10 times the minor one, such as 13000 for 13.0; or an error
     */
    public static native int driverVersion();

    /**
     * Puts an error into words.
     *
     * @param error a negative result of a method of these classes
     * @return the driver's name for it and what it says of it, or the system's message
     */
    public static String errorText(long error) {
        return new String(text((int) error), UTF_8);
    }

    private static native byte @Nullable [] open(byte @Nullable [] path);

    /** A set: bit n is signal n. */
    private static native int claimedSignals();

    private static native byte[] claimant();

    private static native byte[] text(int error);
}
