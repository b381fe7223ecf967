package io.sluice.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/**
 * The driver of NVIDIA GPUs, {@code libcuda}. Sluice is not linked to it: {@link #load} opens it, so that one build
 * serves machines with and without GPUs.
 *
 * <p>The classes {@code Cuda…} map the CUDA driver API. Its objects are handles: raw addresses as positive {@code
 * long}s, unique among living objects. The handle 0 returns an error; a handle that is invalid or of another kind of
 * object crashes the process. Only {@link CudaDevice#count}, {@link CudaDevice#query}, {@link CudaDevice#link}, {@link
 * CudaDevice#open} and {@link CudaMemory#describe} may be called before the library is loaded. Records must be aligned
 * to 8 bytes and are in native byte order.
 *
 * <p>A negative result is an error: one of the driver, negated ({@code CUresult}), or one of the system. {@link
 * #errorText} describes it. Errors never end the process. A sticky error, such as an illegal address in a kernel, makes
 * every later call fail; {@link CudaDevice#fault} returns it.
 *
 * <p>Any thread may call any method, and several may do so at once, except while another thread destroys the same
 * object. Each call makes the device's primary context current for its duration; on a thread that called {@link
 * CudaDevice#makeCurrent} that is only a check.
 */
public final class CudaLibrary {
    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaLibrary() {}

    /**
     * Opens the driver and initialises it. The first call decides: every later one returns the same result, also for
     * another file. The driver is never unloaded. The process keeps its signal handlers, as with {@link
     * VerbsLibrary#load}.
     *
     * @param path the driver's file; {@code null} or empty for {@code libcuda.so.1} on the dynamic linker's search path
     * @return {@code null} if the driver can be used, otherwise a sentence with the file that was tried, and why it
     *     cannot be loaded or initialised (such as without a visible device), or which function it lacks
     */
    public static @Nullable String load(@Nullable String path) {
        return ForeignLibrary.text(open(ForeignLibrary.path(path)));
    }

    /**
     * Returns whether the driver, or a library that it loaded, tried to handle signals that the process handles itself.
     * See {@link VerbsLibrary#claim}.
     *
     * @return a sentence with the file and the signals; {@code null} if there were none, or nothing is loaded yet
     */
    public static @Nullable String claim() {
        return ForeignLibrary.claim("libcuda", claimedSignals(), claimant());
    }

    /**
     * Returns the version of the CUDA driver API in the driver.
     *
     * @return 1000 times the major number and 10 times the minor one, such as 13000 for 13.0; or an error
     */
    public static native int driverVersion();

    /**
     * Describes an error.
     *
     * @param error a negative result of a method of these classes
     * @return the driver's name and description of it, or the system's message
     */
    public static String errorText(long error) {
        return new String(text((int) error), UTF_8);
    }

    private static native byte @Nullable [] open(byte @Nullable [] path);

    /** A set whose bit n is signal n. */
    private static native int claimedSignals();

    private static native byte[] claimant();

    private static native byte[] text(int error);
}
