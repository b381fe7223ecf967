package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.NativeLibrary;
import org.jspecify.annotations.Nullable;

/** The CUDA driver of this process. */
final class Driver {
    /** Names the file to open in place of {@code libcuda.so.1}. */
    static final String LIBRARY_PROPERTY = "sluice.cuda.library";

    private Driver() {}

    /** Why it cannot be used, or null. Never throws. */
    static @Nullable String unavailable() {
        Throwable cause = NativeLibrary.unavailabilityCause();
        if (cause != null) {
            return String.valueOf(cause.getMessage());
        }
        String refused = CudaLibrary.load(System.getProperty(LIBRARY_PROPERTY));
        if (refused != null) {
            return refused;
        }
        int count = CudaDevice.count();
        if (count < 0) {
            return "the driver does not count the GPUs: " + CudaLibrary.errorText(count);
        }
        return count > 0 ? null : "the driver shows no GPU to this process; see CUDA_VISIBLE_DEVICES";
    }

    /** The number that this process has for a GPU; −1 if it does not see it, or cannot use the driver. */
    static int ordinal(String gpu) {
        if (unavailable() != null) {
            return -1;
        }
        try (Gpus gpus = new Gpus(1)) {
            return gpus.ordinal(gpu);
        }
    }
}
