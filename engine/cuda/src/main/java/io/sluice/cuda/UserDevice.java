package io.sluice.cuda;

import io.sluice.engine.TransportUnavailableException;
import io.sluice.jni.CudaDevice;

/** Opens GPUs for programs of the user's, which no engine owns. */
final class UserDevice {
    private UserDevice() {}

    /**
     * Opens a GPU.
     *
     * @return the driver's handle, to be closed
     * @throws TransportUnavailableException if this process has no CUDA driver
     * @throws IllegalArgumentException if it does not see the GPU
     * @throws CudaException if the driver refuses it
     */
    static long open(String gpu) {
        String unavailable = Driver.unavailable();
        if (unavailable != null) {
            throw new TransportUnavailableException(unavailable);
        }
        int ordinal = Driver.ordinal(gpu);
        if (ordinal < 0) {
            throw new IllegalArgumentException("this process sees no GPU " + gpu);
        }
        return CudaException.check(CudaDevice.open(ordinal), "cannot open " + gpu);
    }
}
