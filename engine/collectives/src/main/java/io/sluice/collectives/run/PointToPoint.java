package io.sluice.collectives.run;

import io.sluice.engine.TransferOptions;

/** Elements that one rank sends and another receives; both name each other and a tag. */
public final class PointToPoint extends Pending {
    final boolean sends;
    final int peer;
    final int tag;
    final int type;
    final Memory memory;
    final long bytes;
    final TransferOptions options;

    // of the sender: its number on the link
    int id;
    long moved;
    boolean acknowledged;
    private volatile long received;

    /**
     * Creates it.
     *
     * @param sends whether this rank sends
     * @param peer the other rank
     * @param tag by which the receiver tells it from others of the same sender
     * @param type the type's code
     * @param memory what is sent, or where it goes
     * @param bytes how much
     * @param options of the transfers of a sender
     */
    public PointToPoint(
            boolean sends,
            int peer,
            int tag,
            int type,
            Memory memory,
            long bytes,
            TransferOptions options,
            RunEnd end) {
        super(end);
        this.sends = sends;
        this.peer = peer;
        this.tag = tag;
        this.type = type;
        this.memory = memory;
        this.bytes = bytes;
        this.options = options;
    }

    /** Returns how many bytes have arrived; any thread. */
    public long received() {
        return received;
    }

    void hasReceived(long more) {
        moved += more;
        received = moved;
    }

    @Override
    String text() {
        return (sends ? "sending to rank " : "receiving from rank ") + peer + " with tag " + tag;
    }

    @Override
    int awaited() {
        return peer;
    }

    /** Whether the sender has nothing more to do or to wait for. */
    boolean isSent() {
        return acknowledged && !isUnderWay();
    }
}
