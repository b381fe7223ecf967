package io.sluice.jni;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Sluice's kernels as PTX, for GPUs of compute capability 7.5 or newer and drivers of CUDA 10.0 or newer. */
public final class CudaKernels {
    private static final String RESOURCE = "/META-INF/sluice/kernels.ptx";

    private CudaKernels() {}

    /**
     * Reads the PTX.
     *
     * @return the text, for {@link CudaModule#load}
     */
    public static String ptx() {
        try (InputStream in = CudaKernels.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException(RESOURCE + " is not in the jar of sluice-native: build it again");
            }
            return new String(in.readAllBytes(), US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
