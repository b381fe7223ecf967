package io.sluice.collectives.run;

import io.sluice.collectives.link.Link;
import io.sluice.collectives.link.LinkFailedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives between this rank and one other. The sender announces what it sends; a small one goes with its
 * announcement, and the receiver says when it has taken it. A large one waits until the receiver grants it; then follow a
 * header and the bytes, straight from the sender's region. So what the receiver must keep is bounded by what the sender
 * has pending. All of it is the loop's.
 */
final class Exchange {
    private static final int ANNOUNCE = 0xF1;
    private static final int TAKEN = 0xF2;
    private static final int GRANT = 0xF3;
    private static final int DATA = 0xF4;
    private static final int AWAITS = 0xF5;
    private static final int MOST_TOLD = 8;
    private static final long NUMBER_MASK = (1L << 56) - 1;
    private static final int ID_MASK = 0xFFFF;
    private static final long TAG_MASK = 0xFFFF_FFFFL;

    private final Link link;
    private final int chunkBytes;
    private final Ends ends;
    private final Deque<Outgoing> outgoing = new ArrayDeque<>();
    private final Deque<CallsOfRanks.Awaited> telling = new ArrayDeque<>();
    private final List<PointToPoint> sending = new ArrayList<>();
    private final List<PointToPoint> posted = new ArrayList<>();
    private final List<Announced> unexpected = new ArrayList<>();
    private final List<Granted> granted = new ArrayList<>();
    private final @Nullable PointToPoint[] bySlot;
    private @Nullable PointToPoint arriving;
    private int ids;

    /** What the loop does with what ends. */
    interface Ends {
        void ended(PointToPoint ended);

        /** The ranks do not agree on the type or the length. */
        void mismatch(PointToPoint receive, int type, long bytes);

        /** The peer waits for this rank in a collective. */
        void awaitedBy(CallsOfRanks.Awaited awaited);
    }

    private record Outgoing(int kind, int id, @Nullable PointToPoint data) {
        /** Whether parts of it are sent, which nothing may come between. */
        boolean isBegun() {
            return kind == DATA && data != null && data.moved >= 0;
        }
    }

    private record Announced(int id, int tag, int type, long bytes, byte[] small) {}

    private record Granted(int id, PointToPoint receive) {}

    Exchange(Link link, int chunkBytes, Ends ends) {
        this.link = link;
        this.chunkBytes = chunkBytes;
        this.ends = ends;
        this.bySlot = new PointToPoint[link.slots()];
    }

    int peer() {
        return link.peer();
    }

    void begin() {
        link.awaitArrival();
    }

    void add(PointToPoint added) {
        if (added.sends) {
            added.id = ids++ & ID_MASK;
            sending.add(added);
            outgoing.add(new Outgoing(ANNOUNCE, added.id, added));
            return;
        }
        for (Iterator<Announced> waiting = unexpected.iterator(); waiting.hasNext(); ) {
            Announced announced = waiting.next();
            if (announced.tag == added.tag) {
                waiting.remove();
                matched(
                        added,
                        announced.id,
                        announced.type,
                        announced.bytes,
                        MemorySegment.ofArray(announced.small),
                        0);
                return;
            }
        }
        posted.add(added);
    }

    /** Tells the peer in which collective this rank waits for it. If it takes no messages, it need not know. */
    void tell(long number, long header, long count) {
        if (telling.size() < MOST_TOLD) {
            telling.add(new CallsOfRanks.Awaited(link.peer(), number, header, count));
        }
    }

    void sendEnded(int slot, @Nullable SluiceException error) {
        PointToPoint sender = bySlot[slot];
        bySlot[slot] = null;
        if (sender != null) {
            // of a copy the peer's answer says whether it has come
            sender.sendEnded(link.isCopied(slot) ? null : error);
            endIfSent(sender);
        }
    }

    private void endIfSent(PointToPoint sender) {
        if (sender.isSent() && sender.sendError == null && sending.remove(sender)) {
            ends.ended(sender);
        }
    }

    /** Whether something here waits for the peer. */
    boolean needsPeer() {
        if (arriving != null || !posted.isEmpty() || !granted.isEmpty()) {
            return true;
        }
        for (PointToPoint each : sending) {
            if (!each.acknowledged) {
                return true;
            }
        }
        return false;
    }

    /**
     * Sends and receives what it can.
     *
     * @return the bytes processed; at least the budget if there is more to do
     */
    int advance(int budget) {
        int used = 0;
        boolean more = true;
        while (more && used < budget) {
            int before = used;
            used += sendNext();
            used += receiveNext();
            more = used > before;
        }
        return used;
    }

    private int sendNext() {
        Outgoing next = outgoing.peek();
        boolean tells = !telling.isEmpty() && (next == null || !next.isBegun());
        if (next == null && !tells) {
            return 0;
        }
        if (!link.canSend()) {
            link.awaitSlot();
            return 0;
        }
        if (tells) {
            CallsOfRanks.Awaited told = telling.remove();
            MemorySegment count = MemorySegment.ofArray(new long[] {told.count()});
            tell((long) AWAITS << 56 | told.number(), told.header(), count, Long.BYTES);
            return 1 << 10;
        }
        PointToPoint data = next.data;
        int cost = 1 << 10;
        if (data == null) {
            outgoing.remove();
            long header = header(next.kind, next.id, 0, 0);
            if (next.kind == GRANT) {
                // what it grants comes only if the peer gets it
                link.sendSmall(header, 0, link.memory(), 0, 0);
            } else {
                tell(header, 0, link.memory(), 0);
            }
        } else if (next.kind == ANNOUNCE) {
            announce(data);
            outgoing.remove();
        } else if (data.moved < 0) {
            link.sendSmall(header(DATA, next.id, 0, 0), 0, link.memory(), 0, 0, data.options);
            data.moved = 0;
        } else {
            long length = Math.min(chunkBytes, data.bytes - data.moved);
            remember(data);
            link.send(data.memory.region(), data.memory.offset() + data.moved, length, data.options);
            begun(data);
            data.moved += length;
            cost += (int) length;
            if (data.moved == data.bytes) {
                data.acknowledged = true;
                outgoing.remove();
                endIfSent(data);
            }
        }
        return cost;
    }

    private void announce(PointToPoint data) {
        long header = header(ANNOUNCE, data.id, data.type, data.tag);
        int small = data.bytes <= link.announcedBytes() ? (int) data.bytes : 0;
        remember(data);
        link.sendSmall(header, data.bytes, data.memory.segment(), data.memory.offset(), small, data.options);
        begun(data);
        data.moved = -1;
    }

    private void remember(PointToPoint data) {
        if (!link.sendsAtOnce()) {
            bySlot[link.nextSlot()] = data;
        }
    }

    /** Counted after the call, which may throw; a message may end inside it. */
    private void begun(PointToPoint data) {
        if (!link.sendsAtOnce()) {
            data.sendBegins();
        }
    }

    /** Whether something has come that a mapped peer stores, without telling this rank. */
    boolean isReady() {
        return link.isMapped() && (link.hasArrived() || (!outgoing.isEmpty() && link.canSend()));
    }

    /** Tells the peer something that it need not know once it is lost or has left. */
    private void tell(long header, long count, MemorySegment from, int length) {
        try {
            link.sendSmall(header, count, from, 0, length);
        } catch (LinkFailedException e) {
            // what one that is lost or has left sent before is still here
            if (!(e.error() instanceof ConnectionLostException)) {
                throw e;
            }
        }
    }

    private static long header(int kind, int id, int type, int tag) {
        return (long) kind << 56 | (long) type << 48 | (long) id << 32 | (tag & TAG_MASK);
    }

    private int receiveNext() {
        if (!link.hasArrived()) {
            link.awaitArrival();
            return 0;
        }
        PointToPoint receive = arriving;
        if (receive != null) {
            return takeData(receive);
        }
        long header = link.header();
        long bytes = link.headerCount();
        int id = (int) (header >>> 32) & ID_MASK;
        switch ((int) (header >>> 56) & 0xFF) {
            case ANNOUNCE -> announced(id, (int) header, (int) (header >>> 48) & 0xFF, bytes);
            case TAKEN -> {
                PointToPoint sender = sender(id);
                sender.acknowledged = true;
                endIfSent(sender);
            }
            case GRANT -> outgoing.add(new Outgoing(DATA, id, sender(id)));
            case DATA -> arriving = takeGranted(id);
            case AWAITS -> {
                long count = link.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, link.smallAt(Long.BYTES));
                ends.awaitedBy(new CallsOfRanks.Awaited(link.peer(), header & NUMBER_MASK, bytes, count));
            }
            default -> throw new IllegalStateException("rank " + link.peer() + " sent an unknown message");
        }
        link.release();
        return 1 << 10;
    }

    private int takeData(PointToPoint receive) {
        long length = Math.min(chunkBytes, receive.bytes - receive.moved);
        MemorySegment.copy(
                link.memory(),
                link.largeAt(),
                receive.memory.segment(),
                receive.memory.offset() + receive.moved,
                length);
        link.release();
        receive.hasReceived(length);
        if (receive.moved == receive.bytes) {
            arriving = null;
            ends.ended(receive);
        }
        return (1 << 10) + (int) length;
    }

    private void announced(int id, int tag, int type, long bytes) {
        long small = bytes <= link.announcedBytes() ? bytes : 0;
        for (Iterator<PointToPoint> waiting = posted.iterator(); waiting.hasNext(); ) {
            PointToPoint receive = waiting.next();
            if (receive.tag == tag) {
                waiting.remove();
                matched(receive, id, type, bytes, link.memory(), link.smallAt(bytes));
                return;
            }
        }
        byte[] kept = link.memory().asSlice(link.smallAt(small), small).toArray(ValueLayout.JAVA_BYTE);
        unexpected.add(new Announced(id, tag, type, bytes, kept));
    }

    private void matched(PointToPoint receive, int id, int type, long bytes, MemorySegment from, long at) {
        if (type != receive.type || bytes != receive.bytes) {
            ends.mismatch(receive, type, bytes);
        } else if (bytes <= link.announcedBytes()) {
            MemorySegment.copy(from, at, receive.memory.segment(), receive.memory.offset(), bytes);
            receive.hasReceived(bytes);
            outgoing.add(new Outgoing(TAKEN, id, null));
            ends.ended(receive);
        } else {
            granted.add(new Granted(id, receive));
            outgoing.add(new Outgoing(GRANT, id, null));
        }
    }

    private PointToPoint sender(int id) {
        for (PointToPoint each : sending) {
            if (each.id == id) {
                return each;
            }
        }
        throw new IllegalStateException("rank " + link.peer() + " answers what was not sent");
    }

    private PointToPoint takeGranted(int id) {
        for (Granted each : granted) {
            if (each.id == id) {
                granted.remove(each);
                return each.receive;
            }
        }
        throw new IllegalStateException("rank " + link.peer() + " sends what was not granted");
    }
}
