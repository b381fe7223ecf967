package io.sluice.engine.transport;

/** How a work request ended. */
public enum CompletionStatus {
    /** Done. */
    SUCCESS(0),
    /** The target does not know the region, or it is closed. */
    UNKNOWN_REGION(1),
    /** The target was given a wrong key. */
    BAD_KEY(2),
    /** The target's engine has been restarted. */
    STALE_EPOCH(3),
    /** The range leaves the region or slice. */
    OUT_OF_BOUNDS(4),
    /** The right is missing. */
    ACCESS_DENIED(5),
    /** The target's operating system refused to touch the memory. */
    REMOTE_MEMORY_FAULT(6),
    /** The word of an atomic operation or signal does not lie at a multiple of 8 bytes. */
    MISALIGNED(7),
    /** The region's atomic operations belong to another domain. */
    ATOMIC_DOMAIN(8),
    /** The target's adapter cannot carry the operation out. */
    UNSUPPORTED(9),
    /** The bytes did not arrive as they were sent. */
    INTEGRITY(10),
    /** The operating system of this side refused the access to memory. */
    LOCAL_MEMORY_FAULT(11),
    /** The path broke under it, and it may have taken effect; it must not be carried out twice. The connection lives. */
    OUTCOME_UNKNOWN(12),
    /** The endpoint was closed, and parts may have reached the peer. */
    FLUSHED(13),
    /** The endpoint was closed before any part was sent. */
    FLUSHED_UNSENT(14);

    private final int code;

    CompletionStatus(int code) {
        this.code = code;
    }

    /**
     * The form on the wire, which no version changes; a new status takes a new code.
     *
     * @return 0 to 255
     */
    public int code() {
        return code;
    }

    /**
     * Reads the form on the wire, as far as a peer may send it.
     *
     * @param code from the wire
     * @return the status, or {@link #UNKNOWN_REGION} for a code of a later version: the request was refused all the same
     */
    public static CompletionStatus refusal(int code) {
        return switch (code) {
            case 2 -> BAD_KEY;
            case 3 -> STALE_EPOCH;
            case 4 -> OUT_OF_BOUNDS;
            case 5 -> ACCESS_DENIED;
            case 6 -> REMOTE_MEMORY_FAULT;
            case 7 -> MISALIGNED;
            case 8 -> ATOMIC_DOMAIN;
            case 9 -> UNSUPPORTED;
            case 10 -> INTEGRITY;
            default -> UNKNOWN_REGION;
        };
    }
}
