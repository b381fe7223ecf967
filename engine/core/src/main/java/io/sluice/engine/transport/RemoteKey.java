package io.sluice.engine.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The key with which an initiator reaches an attached region. A transport whose peers need more extends it. */
public class RemoteKey {
    private final long handle;
    private final long key;
    private final long epoch;
    // set by the engine before any request carries the key
    private int path;

    /**
     * Creates a key.
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
     * Returns the target's number for the attachment.
     *
     * @return the handle from the answer to the attach
     */
    public final long handle() {
        return handle;
    }

    /**
     * Returns the descriptor's key.
     *
     * @return as the target issued it
     */
    public final long key() {
        return key;
    }

    /**
     * Returns the target's epoch.
     *
     * @return as in the descriptor
     */
    public final long epoch() {
        return epoch;
    }

    /**
     * Returns the path to which the key belongs.
     *
     * @return the path's position in the connection, 0 for the most preferred one
     */
    public final int path() {
        return path;
    }

    /**
     * For the engine only, before any request carries the key.
     *
     * @param index the path's position in the connection
     */
    public final void path(int index) {
        path = index;
    }

    /**
     * Returns whether the region's words can be changed over this path: by a put, a signal (also one that a write
     * carries), or an atomic operation. If not, another path of the connection does that.
     *
     * @return false if the path can only copy from and to the region
     */
    public boolean carriesWords() {
        return true;
    }

    /**
     * Returns the region's bytes, if the transport has mapped them into this process. Any thread.
     *
     * @return a segment that ends with the attachment, on the connection's event loop; {@code null} if there is none
     */
    public @Nullable MemorySegment mapped() {
        return null;
    }
}
