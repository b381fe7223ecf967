package io.sluice.jni;

/** Kernel modules. See {@link CudaLibrary} for the conventions of these classes. */
public final class CudaModule {
    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaModule() {}

    /**
     * Loads a module. The driver compiles PTX for the device, which may take a second the first time on a machine.
     *
     * @param device the device
     * @param image the address of a cubin, or of PTX text with a terminating zero
     * @return the module's handle, or an error
     */
    public static native long load(long device, long image);

    /**
     * Loads a module as {@link #load} does, and tells what the compiler says of a bad one.
     *
     * @param device the device
     * @param image the address of a cubin, or of PTX text with a terminating zero
     * @param log the address where the text is written, with a terminating zero; 0 for none
     * @param logBytes the size of that memory
     * @return the module's handle, or an error
     */
    public static native long compile(long device, long image, long log, int logBytes);

    /**
     * Finds a kernel.
     *
     * @param module the module
     * @param name the address of its name with a terminating zero
     * @return the function's handle, which lives as long as the module; or an error
     */
    public static native long function(long module, long name);

    /**
     * Returns the size of a kernel's parameter.
     *
     * @param module the module
     * @param function the kernel
     * @param index the parameter's number, from 0
     * @return bytes, or an error: {@code CUDA_ERROR_INVALID_VALUE} after the last parameter, {@code
     *     CUDA_ERROR_NOT_SUPPORTED} from drivers before CUDA 12.4
     */
    public static native long parameter(long module, long function, int index);

    /**
     * Allows launches of a kernel with much dynamic shared memory; up to 48 KiB are always allowed.
     *
     * @param module the module
     * @param function the kernel
     * @param bytes the most that a launch has
     * @return 0 or an error
     */
    public static native int sharedBytes(long module, long function, int bytes);

    /**
     * Unloads a module. None of its kernels may be running.
     *
     * @param module the module
     * @return 0 or an error; the handle becomes invalid in either case
     */
    public static native int unload(long module);
}
