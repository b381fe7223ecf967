package io.sluice.engine.transport.verbs;

/**
 * The replies that a lane owes the peer: a running count of executed requests, and how much of it was reported. The
 * count never passes a request whose individual answer still waits to be sent.
 */
final class PendingReplies {
    private final AnswerNumbers waiting = new AnswerNumbers();
    private long handled;
    private long told;

    /** A request has been executed; returns its number, 1 for the first. */
    long handled() {
        return ++handled;
    }

    /** A request has an individual answer, which waits to be sent. */
    void answerWaits(long number) {
        waiting.add(number);
    }

    /** The number of answers that wait to be sent. */
    int waiting() {
        return waiting.size();
    }

    /** The oldest waiting answer is being sent. */
    void answerLeaves() {
        waiting.removeFirst();
    }

    /** Forgets which answers wait, before they are counted again. */
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

    /** Reports the count again, because the last report did not arrive. */
    void tellAgain() {
        told = -1;
    }
}
