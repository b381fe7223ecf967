package io.sluice.cuda;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** A stream, module, buffer or mapped region is closed, and a GPU is not to use it any more. */
public final class GpuClosedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param what what is closed
     */
    GpuClosedException(String what) {
        super(what + " is closed");
    }
}
