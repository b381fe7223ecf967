package io.sluice.engine.flow;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The looks at a start event on behalf of one run: once they have ended none begins, and its owner may destroy it. Thread-safe. */
public final class EventLooks {
    private static final int ENDED = 1;
    private static final int ONE_LOOK = 2;

    // whether they have ended, and how many are under way
    private final AtomicInteger state = new AtomicInteger();
    private volatile @Nullable CompletableFuture<Void> last;

    /** Looks, unless they have ended; false if so. */
    public boolean look(Runnable look) {
        int before;
        do {
            before = state.get();
            if ((before & ENDED) != 0) {
                return false;
            }
        } while (!state.compareAndSet(before, before + ONE_LOOK));
        try {
            look.run();
        } finally {
            if (state.addAndGet(-ONE_LOOK) == ENDED) {
                CompletableFuture<Void> awaited = last;
                if (awaited != null) {
                    awaited.complete(null);
                }
            }
        }
        return true;
    }

    public boolean haveEnded() {
        return (state.get() & ENDED) != 0;
    }

    /**
     * Ends them; called once.
     *
     * @return completes when those under way are over; null if there are none
     */
    public @Nullable CompletableFuture<Void> end() {
        while (!state.compareAndSet(0, ENDED)) {
            CompletableFuture<Void> over = new CompletableFuture<>();
            last = over;
            int before = state.get();
            if (before != 0 && state.compareAndSet(before, before | ENDED)) {
                return over;
            }
        }
        return null;
    }
}
