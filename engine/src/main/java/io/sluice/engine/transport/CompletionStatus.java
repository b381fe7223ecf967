package io.sluice.engine.transport;

/** How a work request ended. */
public enum CompletionStatus {
    /** Done. */
    SUCCESS,
    /** The target does not know the region, or it is closed. */
    UNKNOWN_REGION,
    /** The target was given a wrong key. */
    BAD_KEY,
    /** The target's engine has been restarted. */
    STALE_EPOCH,
    /** The range leaves the region or slice. */
    OUT_OF_BOUNDS,
    /** The right is missing. */
    ACCESS_DENIED,
    /** The target's operating system refused to touch the memory. */
    REMOTE_MEMORY_FAULT,
    /** The word of an atomic operation or signal does not lie at a multiple of 8 bytes. */
    MISALIGNED,
    /** The region's atomic operations belong to another domain. */
    ATOMIC_DOMAIN,
    /** The target's adapter cannot carry the operation out. */
    UNSUPPORTED,
    /** The bytes did not arrive as they were sent. */
    INTEGRITY,
    /** This side's operating system refused to touch the memory. */
    LOCAL_MEMORY_FAULT,
    /** The path broke under it, and it may have taken effect; it must not be carried out twice. The connection lives. */
    OUTCOME_UNKNOWN,
    /** The endpoint was closed, and parts may have reached the peer. */
    FLUSHED,
    /** The endpoint was closed before any part was sent. */
    FLUSHED_UNSENT;

    private static final CompletionStatus[] VALUES = values();

    /**
     * The form on the wire.
     *
     * @return 0 to 255
     */
    public int code() {
        return ordinal();
    }

    /**
     * Reads the form on the wire, as far as a peer may send it.
     *
     * @param code from the wire
     * @return the status, or {@link #UNKNOWN_REGION} for a code of a later version: the request was refused all the same
     */
    public static CompletionStatus refusal(int code) {
        return code > SUCCESS.ordinal() && code <= INTEGRITY.ordinal() ? VALUES[code] : UNKNOWN_REGION;
    }
}
