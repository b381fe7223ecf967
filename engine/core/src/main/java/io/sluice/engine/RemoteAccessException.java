package io.sluice.engine;

import java.io.Serial;

/** The target refused a transfer. Nothing beyond what the peer allows was read or written. */
public final class RemoteAccessException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Why the target refused. */
    private final Reason reason;

    /** Why a target refuses. */
    public enum Reason {
        /** The region is closed, or was never attached on this connection. */
        UNKNOWN_REGION,
        /** The key does not match the region. */
        BAD_KEY,
        /** The frame was meant for another run of the target's engine. */
        STALE_EPOCH,
        /** The range leaves the region or slice. */
        OUT_OF_BOUNDS,
        /** The descriptor does not give the right to read or write. */
        ACCESS_DENIED,
        /** The target's operating system could not access the memory: it was freed while registered. */
        MEMORY_FAULT,
        /** The word of an atomic operation or signal is not aligned to 8 bytes. */
        MISALIGNED,
        /** The region's {@link AtomicDomain} differs from that of the operation. */
        ATOMIC_DOMAIN,
        /**
         * The target's network adapter does not support the operation, or its processor does not access memory of the
         * region's kind.
         */
        UNSUPPORTED
    }

    /**
     * Creates an exception.
     *
     * @param reason why the target refused
     * @param message the reason in words
     */
    public RemoteAccessException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /**
     * Returns why the target refused.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }
}
