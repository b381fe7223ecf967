package io.sluice.engine.flow;

import io.sluice.engine.TransferPriority;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The transfers of a connection that have something to post. Within a priority they are first in, first out. Among the
 * first of each priority the most urgent one is next, unless another is overdue: it was submitted first, when each step
 * down in priority counts as an aging time later. Overdue and most urgent transfers alternate, chunk by chunk. So
 * nothing starves; and regardless of how much is overdue, an urgent transfer waits for no more than one overdue chunk
 * at a time. Paths without room are left out and hold up no others. On the poller's thread.
 */
@SuppressWarnings("ReferenceEquality") // a transfer is its own identity
final class WaitingTransfers {
    private static final int PRIORITIES = TransferPriority.values().length;

    private final int paths;
    // a list for each path of each priority
    private final @Nullable DataTransfer[] first;
    private final @Nullable DataTransfer[] last;
    private final long agingNanos;
    private int size;
    private boolean overduesTurn = true;
    // of the last look
    private boolean contested;
    private boolean overdueChosen;

    WaitingTransfers(Duration aging, int paths) {
        this.paths = paths;
        first = new @Nullable DataTransfer[PRIORITIES * paths];
        last = new @Nullable DataTransfer[PRIORITIES * paths];
        agingNanos = aging.toNanos();
    }

    /** The list of a transfer, by its priority and path. */
    private int list(DataTransfer transfer) {
        return transfer.options.priority().ordinal() * paths + transfer.waitingPath;
    }

    /** Adds a transfer after all others of its path and priority; does nothing if it already waits. */
    void append(DataTransfer transfer, int path) {
        if (!transfer.waiting) {
            transfer.waitingPath = (byte) path;
            int list = list(transfer);
            add(transfer, list, last[list]);
        }
    }

    /**
     * Adds a transfer before those of its path and priority that were submitted later; does nothing if it already
     * waits.
     */
    void insert(DataTransfer transfer, int path) {
        if (transfer.waiting) {
            return;
        }
        transfer.waitingPath = (byte) path;
        int list = list(transfer);
        DataTransfer newest = last[list];
        if (newest != null && newest.submittedAt() - transfer.submittedAt() <= 0) {
            add(transfer, list, newest);
            return;
        }
        DataTransfer before = null;
        DataTransfer after = first[list];
        // a partly posted transfer stays first: it may hold the credit that this one will lack
        while (after != null && (after.current() != null || after.submittedAt() - transfer.submittedAt() <= 0)) {
            before = after;
            after = after.next;
        }
        add(transfer, list, before);
    }

    /** Moves a waiting transfer whose next element may use another path. */
    void move(DataTransfer transfer, int path) {
        if (transfer.waiting && transfer.waitingPath != path) {
            remove(transfer);
            insert(transfer, path);
        }
    }

    private void add(DataTransfer transfer, int list, @Nullable DataTransfer before) {
        size++;
        transfer.waiting = true;
        transfer.due = transfer.submittedAt() + transfer.options.priority().ordinal() * agingNanos;
        DataTransfer after = before == null ? first[list] : before.next;
        transfer.previous = before;
        transfer.next = after;
        if (before == null) {
            first[list] = transfer;
        } else {
            before.next = transfer;
        }
        if (after == null) {
            last[list] = transfer;
        } else {
            after.previous = transfer;
        }
    }

    /** Removes a transfer; does nothing if it does not wait. */
    void remove(DataTransfer transfer) {
        if (!transfer.waiting) {
            return;
        }
        size--;
        int list = list(transfer);
        DataTransfer before = transfer.previous;
        DataTransfer after = transfer.next;
        if (before == null) {
            first[list] = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last[list] = before;
        } else {
            after.previous = before;
        }
        transfer.waiting = false;
        transfer.previous = null;
        transfer.next = null;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /**
     * Returns the next transfer, or null.
     *
     * @param without the paths to skip, a bit each
     */
    @Nullable
    DataTransfer next(int without) {
        if (size == 0) {
            return null;
        }
        DataTransfer urgent = null;
        DataTransfer oldest = null;
        for (DataTransfer transfer : first) {
            if (transfer == null || (without & 1 << transfer.waitingPath) != 0) {
                continue;
            }
            // by difference, as such times must be compared
            if (urgent == null || (isAsUrgent(transfer, urgent) && transfer.due - urgent.due < 0)) {
                urgent = transfer;
            }
            if (oldest == null || transfer.due - oldest.due < 0) {
                oldest = transfer;
            }
        }
        contested = oldest != urgent;
        overdueChosen = contested && (overduesTurn || agingNanos == 0);
        return overdueChosen ? oldest : urgent;
    }

    private static boolean isAsUrgent(DataTransfer transfer, DataTransfer other) {
        return transfer.options.priority() == other.options.priority();
    }

    /** Records that a chunk of the transfer that {@link #next} returned was taken. */
    void tookTurn() {
        if (contested) {
            overduesTurn = !overdueChosen;
        }
    }

    /**
     * Returns a transfer that was overtaken with a partly posted element, and so holds a credit that another may wait
     * for; or null.
     *
     * @param without the paths to skip, a bit each
     */
    @Nullable
    DataTransfer nextBegun(int without) {
        for (DataTransfer transfer : first) {
            if (transfer != null && transfer.current() != null && (without & 1 << transfer.waitingPath) == 0) {
                return transfer;
            }
        }
        return null;
    }
}
