package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.NotificationSender;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/**
 * The notifications of a connection. A notification goes as fragments on one lane, and as a marker on each other lane
 * written on since the last notification: a receiver that has all of them has all earlier writes. Both directions;
 * confined to the loop.
 */
final class LaneNotifications implements NotificationSender {
    private static final int MAX_WAITING = 64;

    private final EndpointContext context;
    private final ConnectionLanes lanes;
    private final ArrivedWrites writes;
    private final int maxBytes;
    private final int maxArriving;
    private boolean refused;
    private long sent;
    private long delivered;
    private final Map<Long, Arriving> arriving = new HashMap<>();

    /** An incomplete notification, or one that arrived before an earlier one. */
    private static final class Arriving {
        private byte[] payload = {};
        private int missing = -1;
        private int markers;

        boolean isComplete() {
            return missing == 0 && markers == 0;
        }
    }

    LaneNotifications(EndpointContext context, ConnectionLanes lanes, ArrivedWrites writes) {
        this.context = context;
        this.lanes = lanes;
        this.writes = writes;
        this.maxBytes = context.options().maxNotificationBytes();
        this.maxArriving = context.options().notificationCredits();
    }

    @Override
    public boolean hasRoom() {
        LaneMessages lane = lanes.anyOpen();
        if (lane == null || lane.waiting() >= MAX_WAITING) {
            refused = true;
            return false;
        }
        return true;
    }

    /** Whether a notification waits for room. */
    boolean takeRefused() {
        boolean waits = refused;
        refused = false;
        return waits;
    }

    @Override
    public void send(byte[] payload) {
        LaneMessages body = lanes.anyOpen();
        if (body == null) {
            throw new IllegalStateException("the connection has no open lane");
        }
        long number = sent++;
        int markers = lanes.sendMarkers(body, number);
        int offset = 0;
        do {
            int length = Math.min(VerbsMessage.FRAGMENT_BYTES, payload.length - offset);
            body.enqueue(body.message(VerbsMessage.NOTIFICATION)
                    .word(number)
                    .word((long) payload.length << 32 | offset)
                    .word(markers)
                    .payload(payload, offset, length));
            offset += length;
        } while (offset < payload.length);
    }

    void received(int type, MemorySegment buffer, long at, int length) {
        long number = VerbsMessage.word(buffer, at, 0);
        if (number < delivered || number - delivered > maxArriving) {
            throw new ProtocolException("the peer sent a notification out of order");
        }
        Arriving one = arriving.computeIfAbsent(number, key -> new Arriving());
        if (type == VerbsMessage.MARKER) {
            one.markers--;
        } else {
            fragment(one, buffer, at, length);
        }
        Arriving next;
        while ((next = arriving.get(delivered)) != null && next.isComplete()) {
            arriving.remove(delivered++);
            writes.flush();
            context.notified(next.payload);
        }
    }

    private void fragment(Arriving one, MemorySegment buffer, long at, int length) {
        long place = VerbsMessage.word(buffer, at, 1);
        int total = (int) (place >>> 32);
        int offset = (int) place;
        long markers = VerbsMessage.word(buffer, at, 2);
        if (one.missing < 0) {
            if (total < 0 || total > maxBytes || markers < 0 || markers > 255) {
                throw new ProtocolException("the peer sent a notification of " + total + " bytes");
            }
            one.payload = new byte[total];
            one.missing = total;
            one.markers += (int) markers;
        }
        if (offset < 0 || offset > one.payload.length - length || length > one.missing) {
            throw new ProtocolException("the peer sent a fragment beyond the end of its notification");
        }
        MemorySegment.copy(
                buffer,
                ValueLayout.JAVA_BYTE,
                at + VerbsMessage.HEADER_BYTES + 3L * Long.BYTES,
                one.payload,
                offset,
                length);
        one.missing -= length;
    }
}
