package io.sluice.comm.rounds;

import io.sluice.engine.SluiceException;
import io.sluice.experts.backend.CommCallback;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What the loop hands to the back end's thread, and gets back when it is done. Used again and again. */
final class RoundOperation {
    enum Kind {
        /** Bytes, a signal, or both, for another rank. */
        PUT,
        /** Done when the sources of earlier ones have been read. */
        FLUSH,
        /** Done when earlier ones have been stored by the other ranks. */
        QUIET,
        /** Takes memory out of use. */
        FREE
    }

    static final long NO_SIGNAL = -1;

    Kind kind = Kind.PUT;

    @Nullable
    HostMemory source;

    long sourceOffset;
    int memory;
    long targetOffset;
    long bytes;
    long signalOffset = NO_SIGNAL;
    long addend;
    int rank;

    @Nullable
    CommCallback callback;

    // the thread's
    long sequence;
    long sent;
    long afterRound;

    @Nullable
    SluiceException error;

    private @Nullable RoundOperation next;

    RoundOperation set(Kind what, @Nullable CommCallback whenEnded) {
        kind = what;
        callback = whenEnded;
        signalOffset = NO_SIGNAL;
        sent = 0;
        afterRound = -1;
        error = null;
        return this;
    }

    /** Hands operations from any thread to one that takes them all, in their order. Allocates nothing. */
    static final class Queue {
        private final AtomicReference<@Nullable RoundOperation> last = new AtomicReference<>();

        void add(RoundOperation operation) {
            RoundOperation before;
            do {
                before = last.get();
                operation.next = before;
            } while (!last.compareAndSet(before, operation));
        }

        boolean isEmpty() {
            return last.get() == null;
        }

        /** Takes all; the first one leads to the others by {@link #after}. */
        @Nullable
        RoundOperation takeAll() {
            RoundOperation each = last.getAndSet(null);
            RoundOperation first = null;
            while (each != null) {
                RoundOperation before = each.next;
                each.next = first;
                first = each;
                each = before;
            }
            return first;
        }

        /** The one behind, which is then on its own. */
        static @Nullable RoundOperation after(RoundOperation operation) {
            RoundOperation after = operation.next;
            operation.next = null;
            return after;
        }
    }
}
