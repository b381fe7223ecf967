package io.sluice.engine;

import java.io.Serial;

/**
 * The processor or a connection's transport cannot access a region's memory because of its {@linkplain MemoryKind
 * kind}. The message says what to use instead.
 */
public final class MemoryNotAccessibleException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception for memory that the processor cannot access.
     *
     * @param memory the memory
     */
    public MemoryNotAccessibleException(RegionMemory memory) {
        super("the processor cannot access " + memory
                + ": memory() gives its address for programs of the device; to see the"
                + " bytes, transfer them to a region of host memory");
    }

    /**
     * Creates an exception.
     *
     * @param message what cannot access which memory, and what to do
     */
    public MemoryNotAccessibleException(String message) {
        super(message);
    }
}
