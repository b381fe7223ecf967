package io.sluice.engine.transport.verbs;

/**
 * The replies that a lane owes the peer: a running count of the requests executed, and the part of it that the peer has
 * received. The count never passes a request whose own answer still waits to be sent.
 */
final class PendingReplies {
    private final AnswerNumbers waiting = new AnswerNumbers();
    private long handled;
    private long told;

    /** A request has been executed; gives its number, 1 for the first. */
    long handled() {
        return ++handled;
    }

    /** A request has an answer of its own, which waits to be sent. */
    void answerWaits(long number) {
        waiting.add(number);
    }

    /** How many answers wait to be sent. */
    int waiting() {
        return waiting.size();
    }

    /** The answer that has waited longest is being sent. */
    void answerLeaves() {
        waiting.removeFirst();
    }

    /** Forgets which answers wait; the next look finds them out again. */
    void forgetWaiting() {
        waiting.clear();
    }

    /** The count that can be reported now. */
    long toTell() {
        return waiting.isEmpty() ? handled : waiting.first() - 1;
    }

    boolean isTellingDue() {
        return toTell() != told;
    }

    void told(long count) {
        told = count;
    }

    /** Reports the count again, as the last report did not arrive. */
    void tellAgain() {
        told = -1;
    }
}
