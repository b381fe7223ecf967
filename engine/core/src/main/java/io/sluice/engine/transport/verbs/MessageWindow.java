package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a lane in both directions: those that wait for a credit, those sent but not reported as received by
 * the peer, and the count of the peer's messages. It outlives the queue pairs of the lane, so that each message arrives
 * exactly once.
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
     * @param free takes back messages that the peer has received
     */
    MessageWindow(Consumer<VerbsMessage> free) {
        this.free = free;
    }

    /** The credits that both sides agreed on. */
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

    /** Queues a message whose sending failed before all others. */
    void putBack(VerbsMessage message) {
        waiting.addFirst(message);
    }

    List<VerbsMessage> takeWaiting() {
        List<VerbsMessage> taken = new ArrayList<>(waiting);
        waiting.clear();
        return taken;
    }

    void forEachWaiting(Consumer<VerbsMessage> each) {
        waiting.forEach(each);
    }

    /**
     * Returns the next message to send, or null without message or credit. The last credit is kept for reports:
     * otherwise two sides out of credits would wait for each other.
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

    /** Returns the send buffer of the next message, freed by one that the peer has received. */
    int nextBuffer() {
        return (int) sent & MASK;
    }

    void sent(VerbsMessage message) {
        unreceived[(int) sent++ & MASK] = message;
    }

    /** The peer has received this many, modulo 2^32. Returns true if some are new. */
    boolean receivedByPeer(int count) {
        return receivedByPeer(receivedByPeer + (count - (int) receivedByPeer));
    }

    private boolean receivedByPeer(long total) {
        if (total > sent) {
            throw new ProtocolException("the peer acknowledges messages that were not sent");
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

    /** Checks the total that the peer reports to have received. */
    void checkReceivedByPeer(long total) {
        if (total < receivedByPeer || total > sent) {
            throw new ProtocolException("the peer acknowledges messages that were not sent");
        }
    }

    /**
     * Ends the flight of all messages.
     *
     * @param total the number of messages that the peer has received
     * @param arrived receives each message that has newly arrived, before it is freed
     * @return the messages that have not arrived, in order
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

    /** A message of the peer has arrived, for which it must have had a credit. */
    void received() {
        received++;
        if (received - toldReceived > credits) {
            throw new ProtocolException("the peer sent more messages on a lane than its " + credits + " credits allow");
        }
    }

    long totalReceived() {
        return received;
    }

    /** Whether to return credits to the peer now. */
    boolean isReceiptDue() {
        return received - toldReceived >= credits / 2;
    }

    void receiptTold() {
        toldReceived = received;
    }
}
