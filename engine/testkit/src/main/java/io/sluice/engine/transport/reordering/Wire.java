package io.sluice.engine.transport.reordering;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Holds the packets of one direction of a lane, and delivers them as its {@link Disorder} wills: late, in another order,
 * and several times. It loses none.
 */
final class Wire {
    /** How many bytes it may hold before nothing more should be given to it. */
    static final long CAPACITY_BYTES = 4 << 20;

    // differences, as the time may wrap around
    private static final Comparator<Held> EARLIEST =
            ((Comparator<Held>) (one, other) -> Long.signum(one.due - other.due)).thenComparingLong(Held::place);

    private final Disorder disorder;
    private final PriorityQueue<Held> held = new PriorityQueue<>(EARLIEST);
    private long heldBytes;

    private record Held(Packet packet, long due, long place) {}

    Wire(Disorder disorder) {
        this.disorder = disorder;
    }

    /** Takes a packet that arrives at this time. */
    void carry(Packet packet, long now) {
        long sequence = packet.sequence();
        int copies = disorder.copies(sequence);
        for (int copy = 0; copy < copies; copy++) {
            held.add(new Held(packet, now + disorder.delayNanos(sequence, copy), disorder.place(sequence, copy)));
            heldBytes += packet.size();
        }
    }

    /** The next packet whose time has come, or null. */
    @Nullable
    Packet deliver(long now) {
        Held first = held.peek();
        if (first == null || first.due - now > 0) {
            return null;
        }
        held.remove();
        heldBytes -= first.packet.size();
        return first.packet;
    }

    boolean isEmpty() {
        return held.isEmpty();
    }

    /** When the next packet's time comes; not for an empty one. */
    long nextDue() {
        return held.element().due;
    }

    /** The bytes that it holds, each copy counted. */
    long heldBytes() {
        return heldBytes;
    }

    boolean isFull() {
        return heldBytes >= CAPACITY_BYTES;
    }

    void clear() {
        held.clear();
        heldBytes = 0;
    }
}
