package io.sluice.engine.transport.reordering;

import io.sluice.engine.transport.CompletionStatus;
import java.lang.foreign.MemorySegment;

/**
 * One packet that tells how a request ended.
 *
 * @param request the initiator's number of it
 * @param status how
 * @param word what the word held, if the request fetches it
 */
record Answer(long request, CompletionStatus status, long word) implements PacketSource {
    @Override
    public Packet next(MemorySegment memory) {
        return Packet.blank(memory, PacketKind.ANSWER, request)
                .status(status.code())
                .operands(word, 0);
    }

    @Override
    public boolean isExhausted() {
        return true;
    }
}
