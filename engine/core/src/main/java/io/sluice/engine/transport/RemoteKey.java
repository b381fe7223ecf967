package io.sluice.engine.transport;

/** The key with which an initiator reaches an attached region. A transport whose peers need more extends it. */
public class RemoteKey {
    private final long handle;
    private final long key;
    private final long epoch;
    // set by the engine before anything carries the key
    private int path;

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

    /**
     * Which of the connection's paths it belongs to.
     *
     * @return the path's place in the connection, 0 for the most preferred one
     */
    public final int path() {
        return path;
    }

    /**
     * For the engine alone, before anything carries the key.
     *
     * @param index the path's place in the connection
     */
    public final void path(int index) {
        path = index;
    }

    /**
     * Whether the region's words can be changed over this path: by a put, a signal (also one that a write carries), or an atomic
     * operation. If not, another path of the connection does that.
     *
     * @return false if the path can only copy from and to the region
     */
    public boolean carriesWords() {
        return true;
    }
}
