package io.sluice.engine.transport;

/** What an initiator presents to reach an attached region. A transport whose peers need more extends it. */
public class RemoteKey {
    private final long handle;
    private final long key;
    private final long epoch;

    /**
     * Makes one.
     *
     * @param handle the target's number for the attachment
     * @param key the descriptor's key
     * @param epoch the target's epoch
     */
    public RemoteKey(long handle, long key, long epoch) {
        this.handle = handle;
        this.key = key;
        this.epoch = epoch;
    }

    /**
     * The target's number for the attachment.
     *
     * @return as the answer to the attach gave it
     */
    public final long handle() {
        return handle;
    }

    /**
     * The descriptor's key.
     *
     * @return as the target issued it
     */
    public final long key() {
        return key;
    }

    /**
     * The target's epoch.
     *
     * @return as in the descriptor
     */
    public final long epoch() {
        return epoch;
    }
}
