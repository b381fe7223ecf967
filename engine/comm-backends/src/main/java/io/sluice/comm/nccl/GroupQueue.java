package io.sluice.comm.nccl;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** Groups on their way from one thread to one other. */
final class GroupQueue {
    private final AtomicReferenceArray<@Nullable TransferGroup> slots;
    private final int mask;
    // of the one
    private int added;
    // of the other
    private int taken;

    /** For so many groups at once, a power of two. */
    GroupQueue(int capacity) {
        slots = new AtomicReferenceArray<>(capacity);
        mask = capacity - 1;
    }

    void add(TransferGroup group) {
        if (slots.get(added & mask) != null) {
            throw new IllegalStateException("more groups are under way than there can be requests");
        }
        slots.set(added++ & mask, group);
    }

    /** The next one, or null. */
    @Nullable
    TransferGroup poll() {
        TransferGroup next = slots.get(taken & mask);
        if (next != null) {
            slots.set(taken++ & mask, null);
        }
        return next;
    }

    /** For the thread that takes. */
    boolean isEmpty() {
        return slots.get(taken & mask) == null;
    }
}
