package io.sluice.engine.transport;

/** How a work request ended. */
public enum CompletionStatus {
    /** The request succeeded. */
    SUCCESS(0),
    /** The target does not know the region, or it is closed. */
    UNKNOWN_REGION(1),
    /** The target received a wrong key. */
    BAD_KEY(2),
    /** The target's engine has been restarted. */
    STALE_EPOCH(3),
    /** The range leaves the region or slice. */
    OUT_OF_BOUNDS(4),
    /** The descriptor lacks the right. */
    ACCESS_DENIED(5),
    /** The target's operating system could not access the memory. */
    REMOTE_MEMORY_FAULT(6),
    /** The word of an atomic operation or signal is not aligned to 8 bytes. */
    MISALIGNED(7),
    /** The region's atomic operations belong to another domain. */
    ATOMIC_DOMAIN(8),
    /** The target's adapter does not support the operation. */
    UNSUPPORTED(9),
    /** The bytes were changed in transit. */
    INTEGRITY(10),
    /** This side's operating system could not access the memory. */
    LOCAL_MEMORY_FAULT(11),
    /**
     * The path broke meanwhile; the request may have taken effect and must not be executed twice. The connection
     * continues.
     */
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
     * Returns the code on the wire. Codes never change; a new status gets a new code.
     *
     * @return 0 to 255
     */
    public int code() {
        return code;
    }

    /**
     * Returns the status for a code that a peer may send.
     *
     * @param code the code received
     * @return the status, or {@link #UNKNOWN_REGION} for a code of a later version, which is a refusal as well
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
