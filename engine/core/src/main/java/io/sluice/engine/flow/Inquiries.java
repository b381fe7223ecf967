package io.sluice.engine.flow;

import java.util.ArrayList;
import java.util.List;

/**
 * Answers the inquiries of a flow, each once the transfers handed over before it have progressed that far. On the
 * poller's thread.
 */
final class Inquiries {
    private final Visibility visibility;
    private final WriteGroups groups;
    private final Quiescence quiescence;
    private final TransferEnds ends;
    private final List<MailboxBarrier> visibilityAwaited = new ArrayList<>();

    Inquiries(Visibility visibility, WriteGroups groups, Quiescence quiescence, TransferEnds ends) {
        this.visibility = visibility;
        this.groups = groups;
        this.quiescence = quiescence;
        this.ends = ends;
    }

    /** Takes an inquiry from the mailbox. */
    void answer(MailboxBarrier inquiry) {
        switch (inquiry.subject()) {
            case QUIESCENCE -> quiescence.await(inquiry);
            case FLUSH -> {
                groups.close(inquiry);
                groups.release();
            }
            case QUIET -> {
                ConnectionEnd ended = ends.connectionEnd();
                if (ended != null) {
                    inquiry.completeExceptionally(ended.error());
                } else {
                    groups.close(inquiry);
                    groups.release();
                }
            }
        }
    }

    /** Called when the writes before an inquiry have completed; they may still have to be made visible. */
    void writesDone(MailboxBarrier quiet) {
        if (ends.connectionEnd() != null) {
            return;
        }
        visibilityAwaited.add(quiet);
        visibility.make(() -> {
            visibilityAwaited.remove(quiet);
            quiet.complete(null);
        });
    }

    /** Called when the connection has ended: pending writes may never become visible. */
    void connectionEnded(ConnectionEnd why) {
        // before the end of what it waits for lets it go
        for (WriteGroup.Follower follower : groups.followers()) {
            if (follower instanceof MailboxBarrier inquiry && inquiry.subject() == MailboxBarrier.Subject.QUIET) {
                inquiry.completeExceptionally(why.error());
            }
        }
        List<MailboxBarrier> awaited = List.copyOf(visibilityAwaited);
        visibilityAwaited.clear();
        awaited.forEach(quiet -> quiet.completeExceptionally(why.error()));
    }
}
