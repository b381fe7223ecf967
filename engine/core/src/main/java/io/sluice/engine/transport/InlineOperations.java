package io.sluice.engine.transport;

import io.sluice.engine.RegionMemory;

/**
 * Of an endpoint whose transport has {@link Capabilities#callerThreadBytes()}: it carries small work out at once, on any thread.
 */
@FunctionalInterface
public interface InlineOperations {
    /**
     * Carries out a write or read of at most {@link Capabilities#callerThreadBytes()} at once, if this side can do so alone. Any
     * thread; the caller holds a lease on the local memory and credits for the bytes.
     *
     * @param operation {@link WorkRequest.Opcode#WRITE} or {@link WorkRequest.Opcode#READ}
     * @param local the local region's memory
     * @param localOffset where the bytes begin in it
     * @param remote made by {@link RegionAttachments#remoteKey}, and prepared
     * @param remoteOffset where they begin in the remote region or slice
     * @param length how many, checked
     * @return true if it is done; false if it has to be posted instead, and nothing was done
     */
    boolean execute(
            WorkRequest.Opcode operation,
            RegionMemory local,
            long localOffset,
            RemoteKey remote,
            long remoteOffset,
            long length);
}
