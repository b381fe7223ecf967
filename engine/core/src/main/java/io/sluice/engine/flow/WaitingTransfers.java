package io.sluice.engine.flow;

import io.sluice.engine.TransferPriority;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The transfers of a connection that have something to post. Within a priority they go in the order in which they came. Among
 * the first of each priority the most urgent one goes, unless another is overdue: it was submitted first, when each step down
 * counts as having come an aging time later. What is overdue and what is most urgent take turns, chunk by chunk. So nothing
 * starves; and however much is overdue, something urgent waits for no more than one chunk of it at a time. On the poller's thread.
 */
@SuppressWarnings("ReferenceEquality") // a transfer is its own identity
final class WaitingTransfers {
    private static final int PRIORITIES = TransferPriority.values().length;

    private final @Nullable DataTransfer[] first = new @Nullable DataTransfer[PRIORITIES];
    private final @Nullable DataTransfer[] last = new @Nullable DataTransfer[PRIORITIES];
    private final long agingNanos;
    private boolean overduesTurn = true;
    // of the last look
    private boolean contested;
    private boolean overdueChosen;

    WaitingTransfers(Duration aging) {
        agingNanos = aging.toNanos();
    }

    /** Adds one behind all others of its priority; one that waits already is left alone. */
    void append(DataTransfer transfer) {
        if (!transfer.waiting) {
            add(transfer, last[transfer.options.priority().ordinal()]);
        }
    }

    /** Adds one before those of its priority that were submitted later; one that waits already is left alone. */
    void insert(DataTransfer transfer) {
        if (transfer.waiting) {
            return;
        }
        DataTransfer before = null;
        DataTransfer after = first[transfer.options.priority().ordinal()];
        // one half posted stays the first: it may hold the credit that this one will lack
        while (after != null && (after.current() != null || after.submittedAt() - transfer.submittedAt() <= 0)) {
            before = after;
            after = after.next;
        }
        add(transfer, before);
    }

    private void add(DataTransfer transfer, @Nullable DataTransfer before) {
        int priority = transfer.options.priority().ordinal();
        transfer.waiting = true;
        transfer.due = transfer.submittedAt() + priority * agingNanos;
        DataTransfer after = before == null ? first[priority] : before.next;
        transfer.previous = before;
        transfer.next = after;
        if (before == null) {
            first[priority] = transfer;
        } else {
            before.next = transfer;
        }
        if (after == null) {
            last[priority] = transfer;
        } else {
            after.previous = transfer;
        }
    }

    /** Takes a transfer out; one that does not wait is left alone. */
    void remove(DataTransfer transfer) {
        if (!transfer.waiting) {
            return;
        }
        int priority = transfer.options.priority().ordinal();
        DataTransfer before = transfer.previous;
        DataTransfer after = transfer.next;
        if (before == null) {
            first[priority] = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last[priority] = before;
        } else {
            after.previous = before;
        }
        transfer.waiting = false;
        transfer.previous = null;
        transfer.next = null;
    }

    boolean isEmpty() {
        for (DataTransfer transfer : first) {
            if (transfer != null) {
                return false;
            }
        }
        return true;
    }

    /** The one whose turn it is, or null. */
    @Nullable
    DataTransfer next() {
        DataTransfer urgent = null;
        DataTransfer oldest = null;
        for (DataTransfer transfer : first) {
            if (transfer == null) {
                continue;
            }
            if (urgent == null) {
                urgent = transfer;
            }
            // by difference, as such times must be compared
            if (oldest == null || transfer.due - oldest.due < 0) {
                oldest = transfer;
            }
        }
        contested = oldest != urgent;
        overdueChosen = contested && (overduesTurn || agingNanos == 0);
        return overdueChosen ? oldest : urgent;
    }

    /** A chunk of the one that {@link #next} gave was taken. */
    void tookTurn() {
        if (contested) {
            overduesTurn = !overdueChosen;
        }
    }

    /** One that was overtaken with an element half posted, and so holds the credit that another may wait for; or null. */
    @Nullable
    DataTransfer nextBegun() {
        for (DataTransfer transfer : first) {
            if (transfer != null && transfer.current() != null) {
                return transfer;
            }
        }
        return null;
    }
}
