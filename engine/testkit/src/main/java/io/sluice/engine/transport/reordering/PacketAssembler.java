package io.sluice.engine.transport.reordering;

import io.sluice.engine.ProtocolException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Cuts the bytes of a socket into packets again. */
final class PacketAssembler {
    private final Consumer<Packet> sink;
    private final MemorySegment header = MemorySegment.ofArray(new byte[Packet.HEADER_BYTES]);
    private long headerFilled;
    private @Nullable MemorySegment packet;
    private long packetFilled;
    private long expected;

    PacketAssembler(Consumer<Packet> sink) {
        this.sink = sink;
    }

    /** Takes bytes in; every packet that they complete goes to the sink. */
    void take(MemorySegment from, long length) {
        long at = 0;
        while (at < length) {
            at += packet == null ? takeHeader(from, at, length - at) : takePayload(packet, from, at, length - at);
        }
    }

    private long takeHeader(MemorySegment from, long at, long available) {
        long part = Math.min(Packet.HEADER_BYTES - headerFilled, available);
        MemorySegment.copy(from, at, header, headerFilled, part);
        headerFilled += part;
        if (headerFilled == Packet.HEADER_BYTES) {
            headerFilled = 0;
            Packet begun = Packet.arrived(header);
            if (begun.sequence() != expected) {
                throw new ProtocolException("packet " + begun.sequence() + " was sent after packet " + (expected - 1));
            }
            expected++;
            MemorySegment whole = MemorySegment.ofArray(new byte[(int) begun.size()]);
            MemorySegment.copy(header, 0, whole, 0, Packet.HEADER_BYTES);
            packet = whole;
            packetFilled = Packet.HEADER_BYTES;
            passOnIfComplete(whole);
        }
        return part;
    }

    private long takePayload(MemorySegment whole, MemorySegment from, long at, long available) {
        long part = Math.min(whole.byteSize() - packetFilled, available);
        MemorySegment.copy(from, at, whole, packetFilled, part);
        packetFilled += part;
        passOnIfComplete(whole);
        return part;
    }

    private void passOnIfComplete(MemorySegment whole) {
        if (packetFilled == whole.byteSize()) {
            packet = null;
            sink.accept(Packet.arrived(whole));
        }
    }

    /** Whether the rest of a packet is to come. */
    boolean isInsidePacket() {
        return packet != null || headerFilled > 0;
    }

    /** How many packets have begun to come. */
    long begun() {
        return expected;
    }
}
