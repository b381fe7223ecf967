package io.sluice.engine.transport;

import io.sluice.engine.RegionMemory;

/**
 * Implemented by an endpoint whose transport has {@link Capabilities#callerThreadBytes()}: it executes small transfers
 * immediately, on any thread.
 */
@FunctionalInterface
public interface InlineOperations {
    /**
     * Executes a write or read of at most {@link Capabilities#callerThreadBytes()} immediately, if this side can do so
     * alone. Called by any thread; the caller holds a lease on the local memory and credits for the bytes.
     *
     * @param operation {@link WorkRequest.Opcode#WRITE} or {@link WorkRequest.Opcode#READ}
     * @param local the local region's memory
     * @param localOffset the start of the range in the local memory
     * @param remote a prepared key made by {@link RegionAttachments#remoteKey}
     * @param remoteOffset the start of the range in the remote region or slice
     * @param length the number of bytes, already checked
     * @return true if the transfer is done; false if nothing was done and it must be posted instead
     */
    boolean execute(
            WorkRequest.Opcode operation,
            RegionMemory local,
            long localOffset,
            RemoteKey remote,
            long remoteOffset,
            long length);
}
