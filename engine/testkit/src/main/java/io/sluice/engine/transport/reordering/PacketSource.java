package io.sluice.engine.transport.reordering;

import java.lang.foreign.MemorySegment;

/** A source of packets: a request, or the answer to one. */
interface PacketSource {
    /**
     * Makes the next packet.
     *
     * @param memory where: {@link Packet#MOST_BYTES}
     * @return the packet, without its sequence number
     */
    Packet next(MemorySegment memory);

    /** Whether that was its last packet. */
    boolean isExhausted();
}
