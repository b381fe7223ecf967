package io.sluice.engine.flow;

import java.util.concurrent.CompletableFuture;

/** An inquiry about all tasks that entered the mailbox before it. */
final class MailboxBarrier extends CompletableFuture<Void> implements FlowTask, WriteGroup.Follower {
    /** The subject of an inquiry. */
    enum Subject {
        /** Can nothing that has ended touch memory any more? */
        QUIESCENCE,
        /** Can all sources be reused? */
        FLUSH,
        /** Is everything visible at the target? */
        QUIET
    }

    private final Inquiries inquiries;
    private final Subject subject;

    MailboxBarrier(Inquiries inquiries, Subject subject) {
        this.inquiries = inquiries;
        this.subject = subject;
    }

    Subject subject() {
        return subject;
    }

    @Override
    public void reached() {
        if (subject == Subject.QUIET) {
            inquiries.writesDone(this);
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
