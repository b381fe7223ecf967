package io.sluice.engine;

import java.io.Serial;

/**
 * The processor, or a connection's transport, cannot touch a region's memory because of its {@linkplain MemoryKind kind}. The
 * message says what to use instead.
 */
public final class MemoryNotAccessibleException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one for memory that the processor cannot touch.
     *
     * @param memory which
     */
    public MemoryNotAccessibleException(RegionMemory memory) {
        super("the processor cannot touch " + memory
                + ": memory() gives its address for programs of the device; to see the"
                + " bytes, transfer them to a region of host memory");
    }

    /**
     * Makes one.
     *
     * @param message what cannot be touched by what, and what to do
     */
    public MemoryNotAccessibleException(String message) {
        super(message);
    }
}
