package io.sluice.engine.transport.reordering;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.ExportedRegion;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The bytes that the peer reads, packet by packet. The region is leased until the last one is made. */
final class ReadAnswer implements PacketSource {
    private final long request;
    private final long offset;
    private final long length;
    private final Target target;
    private @Nullable ExportedRegion region;
    private CompletionStatus status = CompletionStatus.SUCCESS;
    private long position;
    private boolean exhausted;

    ReadAnswer(Packet asked, ExportedRegion leased, Target target) {
        this.request = asked.request();
        this.offset = asked.offset();
        this.length = asked.length();
        this.region = leased;
        this.target = target;
    }

    @Override
    public Packet next(MemorySegment memory) {
        ExportedRegion leased = region;
        if (leased != null) {
            long part = Math.min(Packet.payloadOf(length), length - position);
            try {
                Packet packet = Packet.blank(memory, PacketKind.DATA, request)
                        .payload(position, leased.memory().segment(), offset + position, part);
                position += part;
                if (position == length) {
                    exhausted = true;
                    release();
                    target.readServed(length);
                }
                return packet;
            } catch (IllegalStateException | InternalError gone) {
                // the arena was closed, or the mapped file was cut short
                refuse(CompletionStatus.REMOTE_MEMORY_FAULT);
            }
        }
        exhausted = true;
        return new Answer(request, status, 0).next(memory);
    }

    @Override
    public boolean isExhausted() {
        return exhausted;
    }

    /** The rest is not read from a region that is closing. */
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
            target.readEnded(this);
        }
    }
}
