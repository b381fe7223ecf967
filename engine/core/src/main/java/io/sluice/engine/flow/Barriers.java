package io.sluice.engine.flow;

import java.util.ArrayList;
import java.util.List;

/**
 * Completes the barriers of a flow, each once the transfers handed over before it have progressed that far. On the
 * poller's thread.
 */
final class Barriers {
    private final Visibility visibility;
    private final WriteGroups groups;
    private final Quiescence quiescence;
    private final TransferEnds ends;
    private final List<MailboxBarrier> visibilityAwaited = new ArrayList<>();

    Barriers(Visibility visibility, WriteGroups groups, Quiescence quiescence, TransferEnds ends) {
        this.visibility = visibility;
        this.groups = groups;
        this.quiescence = quiescence;
        this.ends = ends;
    }

    /** Takes a barrier from the mailbox. */
    void answer(MailboxBarrier barrier) {
        switch (barrier.subject()) {
            case QUIESCENCE -> quiescence.await(barrier);
            case FLUSH -> {
                groups.close(barrier);
                groups.release();
            }
            case QUIET -> {
                ConnectionEnd ended = ends.connectionEnd();
                if (ended != null) {
                    barrier.completeExceptionally(ended.error());
                } else {
                    groups.close(barrier);
                    groups.release();
                }
            }
        }
    }

    /** Called when the writes before a barrier have completed; they may still have to be made visible. */
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
            if (follower instanceof MailboxBarrier barrier && barrier.subject() == MailboxBarrier.Subject.QUIET) {
                barrier.completeExceptionally(why.error());
            }
        }
        List<MailboxBarrier> awaited = List.copyOf(visibilityAwaited);
        visibilityAwaited.clear();
        awaited.forEach(quiet -> quiet.completeExceptionally(why.error()));
    }
}
