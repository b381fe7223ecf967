package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a lane in both directions: those that wait for a credit, those that were sent and that the peer has not said
 * to have received, and how many of the peer's have arrived. It outlives the queue pairs of the lane, so that each message
 * arrives exactly once.
 */
final class MessageWindow {
    private static final int MASK = LaneGroup.CREDITS - 1;

    private final Consumer<VerbsMessage> free;
    private final ArrayDeque<VerbsMessage> waiting = new ArrayDeque<>();
    private final @Nullable VerbsMessage[] unreceived = new @Nullable VerbsMessage[LaneGroup.CREDITS];
    private int credits = LaneGroup.CREDITS;
    private long sent;
    private long receivedByPeer;
    private long received;
    private long toldReceived;

    /**
     * An empty window.
     *
     * @param free takes back what the peer has received
     */
    MessageWindow(Consumer<VerbsMessage> free) {
        this.free = free;
    }

    /** How many both sides agree on. */
    void credits(int agreed) {
        credits = agreed;
    }

    // ---- out ----

    int waiting() {
        return waiting.size();
    }

    void add(VerbsMessage message) {
        waiting.addLast(message);
    }

    /** Puts one that was sent in vain before all others. */
    void putBack(VerbsMessage message) {
        waiting.addFirst(message);
    }

    /** Takes all that wait. */
    List<VerbsMessage> takeWaiting() {
        List<VerbsMessage> taken = new ArrayList<>(waiting);
        waiting.clear();
        return taken;
    }

    void forEachWaiting(Consumer<VerbsMessage> each) {
        waiting.forEach(each);
    }

    /**
     * The next to be sent, or null if there is none or no credit. The last credit is kept for reports: otherwise two sides that
     * have used all of theirs would wait for each other.
     */
    @Nullable
    VerbsMessage pollSendable() {
        return creditsLeft() > 1 ? waiting.pollFirst() : null;
    }

    boolean hasCreditForReport() {
        return creditsLeft() > 0;
    }

    private long creditsLeft() {
        return credits - (sent - receivedByPeer);
    }

    /** Which send buffer the next message takes: that of a message that the peer has received. */
    int nextBuffer() {
        return (int) sent & MASK;
    }

    void sent(VerbsMessage message) {
        unreceived[(int) sent++ & MASK] = message;
    }

    /** The peer has received so many, modulo 2^32. True if some are new. */
    boolean receivedByPeer(int count) {
        return receivedByPeer(receivedByPeer + (count - (int) receivedByPeer));
    }

    private boolean receivedByPeer(long total) {
        if (total > sent) {
            throw new ProtocolException("the peer has received messages that were not sent");
        }
        boolean some = receivedByPeer < total;
        while (receivedByPeer < total) {
            VerbsMessage message = remove(receivedByPeer++);
            if (message != null) {
                free.accept(message);
            }
        }
        return some;
    }

    private @Nullable VerbsMessage remove(long number) {
        int at = (int) number & MASK;
        VerbsMessage message = unreceived[at];
        unreceived[at] = null;
        return message;
    }

    /** Checks what the peer says to have received in all. */
    void checkReceivedByPeer(long total) {
        if (total < receivedByPeer || total > sent) {
            throw new ProtocolException("the peer has received messages that were not sent");
        }
    }

    /**
     * Nothing is under way any more.
     *
     * @param total what the peer has received in all
     * @param arrived is given each message of which that is news, before it is freed
     * @return what has not arrived, in order
     */
    List<VerbsMessage> settle(long total, Consumer<VerbsMessage> arrived) {
        for (long number = receivedByPeer; number < total; number++) {
            VerbsMessage message = unreceived[(int) number & MASK];
            if (message != null) {
                arrived.accept(message);
            }
        }
        receivedByPeer(total);
        List<VerbsMessage> lost = new ArrayList<>();
        for (long number = total; number < sent; number++) {
            VerbsMessage message = remove(number);
            if (message != null) {
                lost.add(message);
            }
        }
        sent = total;
        return lost;
    }

    // ---- in ----

    /** A message of the peer's has arrived, for which it must have had a credit. */
    void received() {
        received++;
        if (received - toldReceived > credits) {
            throw new ProtocolException(
                    "the peer sends more messages on a lane than its " + credits + " credits allow");
        }
    }

    long totalReceived() {
        return received;
    }

    /** Whether the peer should get its credits back now. */
    boolean isReceiptDue() {
        return received - toldReceived >= credits / 2;
    }

    void receiptTold() {
        toldReceived = received;
    }
}
