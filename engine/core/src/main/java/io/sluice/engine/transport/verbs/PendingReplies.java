package io.sluice.engine.transport.verbs;

/**
 * What a lane owes the peer for its requests: a running count of those that are carried out, and how much of it the peer was
 * told. The count never passes a request whose own answer still waits to be sent.
 */
final class PendingReplies {
    private final AnswerNumbers waiting = new AnswerNumbers();
    private long handled;
    private long told;

    /** A request has been carried out; gives its number, 1 for the first. */
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

    /** Which answers wait is to be found out anew. */
    void forgetWaiting() {
        waiting.clear();
    }

    /** What can be told now. */
    long toTell() {
        return waiting.isEmpty() ? handled : waiting.first() - 1;
    }

    boolean isTellingDue() {
        return toTell() != told;
    }

    void told(long count) {
        told = count;
    }

    /** What told the peer has not arrived. */
    void tellAgain() {
        told = -1;
    }
}
