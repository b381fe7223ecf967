package io.sluice.engine;

import java.io.Serial;

/** The target's engine refused a transfer. No byte outside what the peer allows was read or written. */
public final class RemoteAccessException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Why the target refused. */
    private final Reason reason;

    /** Why a target refuses. */
    public enum Reason {
        /** The region is closed, or was never attached on this connection. */
        UNKNOWN_REGION,
        /** The key does not belong to the region. */
        BAD_KEY,
        /** The frame was made for another run of the target's engine. */
        STALE_EPOCH,
        /** The range leaves the region or slice. */
        OUT_OF_BOUNDS,
        /** The descriptor does not give the right to read or write. */
        ACCESS_DENIED,
        /** The target's operating system could not touch the memory: it was freed while registered. */
        MEMORY_FAULT,
        /** The word of an atomic operation or signal does not lie at a multiple of 8 bytes. */
        MISALIGNED,
        /** The region's {@link AtomicDomain} is another one than the transport's operation has. */
        ATOMIC_DOMAIN,
        /** The target's network adapter has no such operation, or its processor does not touch memory of the region's kind. */
        UNSUPPORTED
    }

    /**
     * Makes one.
     *
     * @param reason why the target refused
     * @param message the same in words
     */
    public RemoteAccessException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /**
     * Why the target refused.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }
}
