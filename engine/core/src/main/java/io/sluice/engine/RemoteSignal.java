package io.sluice.engine;

import java.util.Objects;

/**
 * A 64-bit counter in a peer's region, in the peer's byte order, that operations of this engine can add to.
 *
 * @param region where it lies; must give {@link Access#REMOTE_WRITE}
 * @param offset bytes from the region's start; a multiple of 8
 */
public record RemoteSignal(RemoteRegion region, long offset) {
    /** How long a signal is, in bytes. */
    public static final int BYTES = 8;

    /** Checks the range and the alignment. */
    public RemoteSignal {
        Objects.requireNonNull(region, "region");
        Objects.checkFromIndexSize(offset, BYTES, region.length());
        if ((region.descriptor().offset() + offset) % BYTES != 0) {
            throw new IllegalArgumentException(
                    "a signal lies at a multiple of 8 bytes from its region's start, not at " + offset);
        }
    }

    /**
     * Adding 1 after the bytes of the write that carries it.
     *
     * @return the update
     */
    public SignalUpdate weak() {
        return new SignalUpdate(this, 1, SignalOrder.WEAK);
    }

    /**
     * Adding 1 in {@link SignalOrder#STRONG} order: after all earlier writes of the connection.
     *
     * @return the update
     */
    public SignalUpdate strong() {
        return new SignalUpdate(this, 1, SignalOrder.STRONG);
    }
}
