package io.sluice.cuda;

import io.sluice.engine.SluiceException;
import io.sluice.jni.CudaLibrary;
import java.io.Serial;

/** The CUDA driver has refused something, or a GPU has failed. The message has the driver's words. */
public final class CudaException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** The driver's error for what is ending, negated. */
    static final int DEINITIALIZED = -4;

    /** The driver's error for what it does not offer, negated. */
    static final int NOT_SUPPORTED = -801;

    /** The driver's error for a handle that this process has made itself, negated ({@code CUDA_ERROR_INVALID_CONTEXT}). */
    static final int OWN_HANDLE = -201;

    /** The driver's error for an event that was never recorded, among others, negated. */
    static final int INVALID_HANDLE = -400;

    /** The driver's error for what a stream cannot do while it is captured into a graph, negated. */
    static final int CAPTURED = -900;

    /** The driver's error code. */
    private final int error;

    /**
     * Makes one.
     *
     * @param what was not possible
     * @param error the driver's, negated, as the methods of {@code io.sluice.jni} give it
     */
    CudaException(String what, long error) {
        super(what + ": " + CudaLibrary.errorText(error));
        this.error = (int) -error;
    }

    /** The result, unless it is an error. */
    static long check(long result, String what) {
        if (result < 0) {
            throw new CudaException(what, result);
        }
        return result;
    }

    /**
     * The driver's number for the error.
     *
     * @return a {@code CUresult}, such as 2 for {@code CUDA_ERROR_OUT_OF_MEMORY}; above 100,000 it is the system's error and 100,000
     */
    public int error() {
        return error;
    }
}
