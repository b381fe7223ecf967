package io.sluice.comm.nccl;

import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A request of the peer's that was checked and whose region is leased until it has ended. Reused. */
final class ServedRequest {
    private @Nullable ExportedRegion region;
    private WorkRequest.Opcode operation = WorkRequest.Opcode.READ;
    private long address;
    private long length;

    void begin(ExportedRegion leased, WorkRequest.Opcode what, long at, long bytes) {
        region = leased;
        operation = what;
        address = at;
        length = bytes;
    }

    /** Ends the lease. */
    void end() {
        ExportedRegion leased = region;
        region = null;
        if (leased != null) {
            leased.release();
        }
    }

    boolean isOfClosedRegion() {
        ExportedRegion leased = region;
        return leased != null && !leased.isOpen();
    }

    WorkRequest.Opcode operation() {
        return operation;
    }

    long address() {
        return address;
    }

    long length() {
        return length;
    }
}
