package io.sluice.engine.transport.reordering;

import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.LongConsumer;

/**
 * The packets that a lane sends. The sources take turns, a packet each, so that packets of different requests are mixed
 * before the wire gets them. Payloads are copied, so that nothing is sent from a region's own memory.
 */
final class OutboundPackets {
    private static final long STAGING_BYTES = 2L * Packet.MOST_BYTES;

    private final ArrayDeque<PacketSource> sources = new ArrayDeque<>();
    private final MemorySegment staging = Arena.ofAuto().allocate(STAGING_BYTES, Long.BYTES);
    private long from;
    private long to;
    private long sequence;

    /** The result of {@link #send}. */
    enum Sent {
        /** Everything has left. */
        ALL,
        /** The socket takes no more for now. */
        AWAITING_ROOM
    }

    void add(PacketSource source) {
        sources.addLast(source);
    }

    boolean isEmpty() {
        return sources.isEmpty() && from == to;
    }

    /** Sources that have packets left. */
    int size() {
        return sources.size();
    }

    /** Sends as much as the socket takes. */
    Sent send(int descriptor, LongConsumer counted) throws SocketFailedException {
        while (true) {
            if (from == to) {
                fill();
            }
            if (from == to) {
                return Sent.ALL;
            }
            long sent = Sockets.send(descriptor, staging.address() + from, to - from);
            if (sent == -Errno.EAGAIN) {
                return Sent.AWAITING_ROOM;
            }
            if (sent < 0) {
                throw new SocketFailedException("sending failed: " + Errno.message((int) -sent));
            }
            from += sent;
            counted.accept(sent);
        }
    }

    private void fill() {
        from = 0;
        to = 0;
        while (STAGING_BYTES - to >= Packet.MOST_BYTES) {
            PacketSource source = sources.pollFirst();
            if (source == null) {
                return;
            }
            Packet packet = source.next(staging.asSlice(to, Packet.MOST_BYTES));
            packet.sequence(sequence);
            sequence++;
            to += packet.size();
            if (!source.isExhausted()) {
                sources.addLast(source);
            }
        }
    }

    void clear() {
        sources.clear();
        from = 0;
        to = 0;
    }
}
