package io.sluice.engine.transport.reordering;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.lang.foreign.MemorySegment;

/** A work request of this side: its packets, and the answers. */
final class SentRequest implements PacketSource {
    private final long number;
    private final WorkRequest request;
    private CompletionStatus status = CompletionStatus.SUCCESS;
    private long sent;
    private long received;
    private boolean begun;
    private boolean exhausted;

    SentRequest(long number, WorkRequest request) {
        this.number = number;
        this.request = request;
    }

    WorkRequest request() {
        return request;
    }

    @Override
    public Packet next(MemorySegment memory) {
        begun = true;
        Packet packet = Packet.blank(memory, PacketKind.of(request.operation()), number)
                .region(request.remote(), request.remoteOffset(), request.length());
        if (request.operation() == WorkRequest.Opcode.WRITE) {
            addBytes(packet);
        } else {
            packet.operands(request.operand(), request.expected());
            exhausted = true;
        }
        return packet;
    }

    private void addBytes(Packet packet) {
        if (request.hasSignal()) {
            RemoteKey signal = request.signal();
            packet.signal(signal, request.signalOffset(), request.signalAddend());
        }
        long part = Math.min(Packet.payloadOf(request.length()), request.length() - sent);
        try {
            packet.payload(sent, request.local().segment(), request.localOffset() + sent, part);
            sent += part;
            exhausted = sent == request.length();
        } catch (IllegalStateException | InternalError gone) {
            // the arena was closed, or the mapped file was cut short; the target holds the bytes that have arrived so
            // far
            packet.withdrawn(sent);
            status = CompletionStatus.LOCAL_MEMORY_FAULT;
            exhausted = true;
        }
    }

    @Override
    public boolean isExhausted() {
        return exhausted;
    }

    /** Whether a part may have been sent. */
    boolean isBegun() {
        return begun;
    }

    /** Takes a part of the bytes that are read; true if it was the last that was missing. */
    boolean place(Packet packet) {
        if (request.operation() != WorkRequest.Opcode.READ || !exhausted) {
            throw new ProtocolException("the peer sends bytes that were not asked for");
        }
        packet.checkPayloadWithin(request.length());
        received += packet.payloadLength();
        if (status == CompletionStatus.SUCCESS) {
            try {
                packet.copyPayload(request.local().segment(), request.localOffset() + packet.position());
            } catch (IllegalStateException | InternalError gone) {
                status = CompletionStatus.LOCAL_MEMORY_FAULT;
            }
        }
        return received == request.length();
    }

    /** Takes the answer. */
    void answered(Packet answer) {
        if (!exhausted) {
            throw new ProtocolException("the peer answers a request that it has not got");
        }
        if (status != CompletionStatus.SUCCESS) {
            return;
        }
        if (answer.status() != CompletionStatus.SUCCESS.code()) {
            status = CompletionStatus.refusal(answer.status());
        } else if (request.operation() == WorkRequest.Opcode.READ) {
            throw new ProtocolException("the peer answers a read without the bytes");
        } else if (request.operation().isFetching()) {
            request.fetched(answer.operand());
        }
    }

    CompletionStatus status() {
        return status;
    }
}
