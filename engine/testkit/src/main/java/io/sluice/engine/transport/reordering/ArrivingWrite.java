package io.sluice.engine.transport.reordering;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A write of the peer's of which some packets have been delivered. The region is leased from the first packet to the last;
 * refused packets are counted and dropped.
 */
final class ArrivingWrite {
    private @Nullable ExportedRegion region;
    private CompletionStatus status;
    private long end;
    private long arrived;
    private boolean withdrawn;

    /**
     * Begins one.
     *
     * @param first whichever of its packets was delivered first
     * @param exported the region that it names, or null if there is none
     */
    ArrivingWrite(Packet first, @Nullable ExportedRegion exported) {
        end = first.length();
        status = exported == null
                ? CompletionStatus.UNKNOWN_REGION
                : exported.acquire(
                        WorkRequest.Opcode.WRITE,
                        first.region().key(),
                        first.region().epoch(),
                        first.offset(),
                        first.length());
        if (status == CompletionStatus.SUCCESS) {
            region = exported;
        }
    }

    void place(Packet packet) {
        if (packet.isWithdrawn()) {
            withdrawn = true;
            end = packet.position();
            return;
        }
        packet.checkPayloadWithin(packet.length());
        arrived += packet.payloadLength();
        ExportedRegion leased = region;
        if (leased != null) {
            try {
                packet.copyPayload(leased.memory().segment(), packet.offset() + packet.position());
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was cut short
                refuse(CompletionStatus.REMOTE_MEMORY_FAULT);
            }
        }
    }

    boolean isComplete() {
        return arrived == end;
    }

    /** The initiator could not send all of it, and knows. */
    boolean isWithdrawn() {
        return withdrawn;
    }

    CompletionStatus status() {
        return status;
    }

    /** Packets that have not landed in a closing region never do. */
    void regionClosing() {
        if (holdsClosedLease()) {
            refuse(CompletionStatus.UNKNOWN_REGION);
        }
    }

    boolean holdsClosedLease() {
        return region != null && !region.isOpen();
    }

    private void refuse(CompletionStatus reason) {
        status = reason;
        release();
    }

    void release() {
        ExportedRegion leased = region;
        if (leased != null) {
            region = null;
            leased.release();
        }
    }
}
