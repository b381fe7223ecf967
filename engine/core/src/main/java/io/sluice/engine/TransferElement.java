package io.sluice.engine;

import java.util.Objects;

/**
 * One element of a vectored transfer.
 *
 * @param local this engine's region: the source of a write, the target of a read
 * @param localOffset bytes from the region's start
 * @param remote the peer's region: the target of a write, the source of a read
 * @param remoteOffset bytes from the region's start
 * @param length bytes, 0 or more
 */
public record TransferElement(
        MemoryRegion local, long localOffset, RemoteRegion remote, long remoteOffset, long length) {
    /** Checks for null; ranges are checked when the element is submitted. */
    public TransferElement {
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(remote, "remote");
    }
}
