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
     * Finds a kernel.
     *
     * @param module the module
     * @param name the address of its name with a terminating zero
     * @return the function's handle, which lives as long as the module; or an error
     */
    public static native long function(long module, long name);

    /**
     * Unloads a module. None of its kernels may be running.
     *
     * @param module the module
     * @return 0 or an error; the handle becomes invalid in either case
     */
    public static native int unload(long module);
}
