package io.sluice.engine.flow;

import java.util.concurrent.CompletableFuture;

/** A wait for all tasks that entered the mailbox before it. */
final class MailboxBarrier extends CompletableFuture<Void> implements FlowTask, WriteGroup.Follower {
    /** The condition that a barrier waits for. */
    enum Subject {
        /** Can nothing that has ended touch memory any more? */
        QUIESCENCE,
        /** Can all sources be reused? */
        FLUSH,
        /** Is everything visible at the target? */
        QUIET
    }

    private final Barriers barriers;
    private final Subject subject;

    MailboxBarrier(Barriers barriers, Subject subject) {
        this.barriers = barriers;
        this.subject = subject;
    }

    Subject subject() {
        return subject;
    }

    @Override
    public void reached() {
        if (subject == Subject.QUIET) {
            barriers.writesDone(this);
        } else {
            complete(null);
        }
    }

    /** A flush needs only completions, and quiet requests visibility itself once it is reached. */
    @Override
    public boolean needsVisibility() {
        return false;
    }
}
