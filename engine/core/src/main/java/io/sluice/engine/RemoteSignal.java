package io.sluice.engine;

import java.util.Objects;

/**
 * A 64-bit counter in a peer's region, in the peer's byte order, that operations of this engine can add to.
 *
 * @param region the region that holds the counter; must have {@link Access#REMOTE_WRITE}
 * @param offset bytes from the region's start; a multiple of 8
 */
public record RemoteSignal(RemoteRegion region, long offset) {
    /** The length of a signal, in bytes. */
    public static final int BYTES = 8;

    /** Checks the range and the alignment. */
    public RemoteSignal {
        Objects.requireNonNull(region, "region");
        Objects.checkFromIndexSize(offset, BYTES, region.length());
        if ((region.descriptor().offset() + offset) % BYTES != 0) {
            throw new IllegalArgumentException("a signal's offset is a multiple of 8, not " + offset);
        }
    }

    /**
     * Returns an update that adds 1 after the bytes of the write that carries it.
     *
     * @return the update
     */
    public SignalUpdate weak() {
        return new SignalUpdate(this, 1, SignalOrder.WEAK);
    }

    /**
     * Returns an update that adds 1 in {@link SignalOrder#STRONG} order: after all earlier writes of the connection.
     *
     * @return the update
     */
    public SignalUpdate strong() {
        return new SignalUpdate(this, 1, SignalOrder.STRONG);
    }
}
