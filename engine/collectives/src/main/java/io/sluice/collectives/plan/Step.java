package io.sluice.collectives.plan;

/**
 * One step of a plan. Offsets and lengths are in bytes, from where the collective's buffer begins.
 *
 * @param kind what is done
 * @param peer the other rank, or -1
 * @param from the buffer that is read: what is sent or copied, or the local operand of a reduction
 * @param fromOffset where it begins; of {@link Kind#SENT} the index of the step that sends
 * @param to the buffer that is written
 * @param toOffset where it begins
 * @param length bytes; of a message at most the builder's chunk
 * @param messageFirst whether the message is the first operand of a reduction
 */
public record Step(
        Kind kind,
        int peer,
        Buffer from,
        long fromOffset,
        Buffer to,
        long toOffset,
        long length,
        boolean messageFirst) {

    /** Returns whether it waits for a message. */
    public boolean receives() {
        return kind == Kind.RECEIVE || kind == Kind.REDUCE;
    }

    /** The kinds of steps. */
    public enum Kind {
        /** Sends a message. The bytes may be read until a later {@link #DRAIN} or {@link #SENT}, or until the peer has received them. */
        SEND,
        /** Waits for a message and stores it. */
        RECEIVE,
        /** Waits for a message and stores its reduction with a local operand. */
        REDUCE,
        /** Copies within this rank. */
        COPY,
        /** Reduces two ranges of this rank: what is read comes first, what is written second. */
        COMBINE,
        /** Waits until the sources of all earlier messages may be changed. */
        DRAIN,
        /** Waits until the source of one earlier message may be changed. */
        SENT,
        /** Divides the elements of the written range by the number of ranks. */
        DIVIDE
    }

    /** The buffers of a collective. */
    public enum Buffer {
        /** The caller's source. */
        SOURCE,
        /** The caller's target. */
        TARGET,
        /** Memory of the team for intermediate results. */
        WORK
    }
}
