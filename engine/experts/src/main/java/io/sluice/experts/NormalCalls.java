package io.sluice.experts;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Calls on their way from any threads to the loop, and those that wait there. Allocates nothing. */
final class NormalCalls {
    // the latest first
    private final AtomicReference<@Nullable NormalCall> submitted = new AtomicReference<>();
    private @Nullable NormalCall first;
    private @Nullable NormalCall last;

    /** Hands a call over, from any thread. */
    void submit(NormalCall call) {
        NormalCall before;
        do {
            before = submitted.get();
            call.next = before;
        } while (!submitted.compareAndSet(before, call));
    }

    /** Takes what was submitted, and returns it as a list in the order of submission. */
    @Nullable
    NormalCall takeSubmitted() {
        NormalCall call = submitted.getAndSet(null);
        NormalCall list = null;
        while (call != null) {
            NormalCall before = call.next;
            call.next = list;
            list = call;
            call = before;
        }
        return list;
    }

    /** Adds a call that waits. */
    void add(NormalCall call) {
        call.next = null;
        NormalCall before = last;
        if (before == null) {
            first = call;
        } else {
            before.next = call;
        }
        last = call;
    }

    @Nullable
    NormalCall first() {
        return first;
    }

    /** Takes the first call that waits. */
    @Nullable
    NormalCall take() {
        NormalCall call = first;
        if (call != null) {
            first = call.next;
            call.next = null;
            if (first == null) {
                last = null;
            }
        }
        return call;
    }
}
