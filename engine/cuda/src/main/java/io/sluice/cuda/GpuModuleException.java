package io.sluice.cuda;

import io.sluice.engine.SluiceException;
import io.sluice.jni.CudaLibrary;
import java.io.Serial;

/** The driver does not load a module, or a module has no such kernel. */
public final class GpuModuleException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** The log of the driver's compiler. */
    private final String log;

    /**
     * Makes one.
     *
     * @param what was not possible
     * @param error the driver's, negated, as the methods of {@code io.sluice.jni} give it
     * @param log what the driver's compiler said; may be empty
     */
    GpuModuleException(String what, long error, String log) {
        super(what + ": " + CudaLibrary.errorText(error) + (log.isBlank() ? "" : "\n" + log.strip()));
        this.log = log;
    }

    /**
     * Returns what the driver's compiler said of the module.
     *
     * @return its log; empty if it said nothing, as of an unknown kernel
     */
    public String log() {
        return log;
    }
}
