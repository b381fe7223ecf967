package io.sluice.engine.transport.reordering;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Packets as they would come from a socket, for the tests of single parts. */
final class Packets {
    private Packets() {}

    /** A part of a write, whose payload repeats the low-order byte of its number. */
    static Packet numbered(long sequence, int payload) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[Packet.HEADER_BYTES + payload]);
        byte[] filling = new byte[payload];
        Arrays.fill(filling, (byte) sequence);
        return Packet.blank(bytes, PacketKind.WRITE, sequence)
                .payload(0, MemorySegment.ofArray(filling), 0, payload)
                .sequence(sequence);
    }
}
