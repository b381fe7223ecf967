package io.sluice.engine.transport.tcp;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.StagedMemory;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Checks the access that a frame requests, and leases the region if it may proceed. */
final class AccessCheck {
    private AccessCheck() {}

    /** Checks an access with the key, epoch and offset of a header. */
    static CompletionStatus acquire(
            @Nullable ExportedRegion region, WorkRequest.Opcode operation, MemorySegment header, long at, long length) {
        return acquire(
                region,
                operation,
                FrameHeader.key(header, at),
                FrameHeader.epoch(header, at),
                FrameHeader.offset(header, at),
                length);
    }

    /** Checks an access; {@link CompletionStatus#SUCCESS} leases the region. */
    static CompletionStatus acquire(
            @Nullable ExportedRegion region,
            WorkRequest.Opcode operation,
            long key,
            long epoch,
            long offset,
            long length) {
        if (region == null) {
            return CompletionStatus.UNKNOWN_REGION;
        }
        // frame payloads pass through memory of the host
        if (!region.memory().isHost() && !(region.registration() instanceof StagedMemory)) {
            return CompletionStatus.UNSUPPORTED;
        }
        return region.acquire(operation, key, epoch, offset, length);
    }
}
