package io.sluice.jni;

/** Modules of kernels. See {@link CudaLibrary} for what all these classes share. */
public final class CudaModule {
    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaModule() {}

    /**
     * Loads a module. PTX is compiled for the device, which may take a second for the first time on a machine.
     *
     * @param device the device
     * @param image where the text of PTX begins, which ends with a zero, or a cubin
     * @return the module's handle, or an error
     */
    public static native long load(long device, long image);

    /**
     * Finds a kernel.
     *
     * @param module the module
     * @param name where its name begins, which ends with a zero
     * @return the function's handle, which lives as long as the module; or an error
     */
    public static native long function(long module, long name);

    /**
     * Unloads a module. None of its kernels may run.
     *
     * @param module the module
     * @return 0 or an error; the handle is gone in either case
     */
    public static native int unload(long module);
}
