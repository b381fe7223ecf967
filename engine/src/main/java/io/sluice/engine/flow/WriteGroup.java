package io.sluice.engine.flow;

import org.jspecify.annotations.Nullable;

/**
 * The writes between two notifications. A notification may leave once its group and all before it are empty: that gives the
 * order that is promised on any transport, whatever the lanes do.
 */
final class WriteGroup {
    private int outstanding;
    private @Nullable NotifyTransfer notification;

    void enter() {
        outstanding++;
    }

    void leave() {
        outstanding--;
    }

    boolean isEmpty() {
        return outstanding == 0;
    }

    void closeWith(NotifyTransfer closing) {
        notification = closing;
    }

    /** What waits for this group, or null while the group is open. */
    @Nullable
    NotifyTransfer notification() {
        return notification;
    }
}
