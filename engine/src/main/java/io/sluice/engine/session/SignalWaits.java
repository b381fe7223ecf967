package io.sluice.engine.session;

import io.sluice.engine.SluiceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for which counter of a region. Any thread. While nobody waits an update costs one read here.
 *
 * <p>A waiter first enters itself and then looks at the counter; an update first changes the counter and then looks for
 * waiters: so one of the two sees the other.
 */
final class SignalWaits {
    // by the counter's offset in the region
    private final Map<Long, List<Wait>> waits = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private volatile @Nullable SluiceException closed;

    /** One wait. It leaves when it ends, whoever ends it. */
    static final class Wait extends CompletableFuture<Long> {
        private final long atLeast;

        Wait(long atLeast) {
            this.atLeast = atLeast;
        }

        boolean isSatisfiedBy(long value) {
            return value >= atLeast;
        }
    }

    void enter(long offset, Wait wait) {
        count.incrementAndGet();
        waits.compute(offset, (at, others) -> {
            List<Wait> all = others == null ? new ArrayList<>(1) : new ArrayList<>(others);
            all.add(wait);
            return all;
        });
        wait.whenComplete((value, error) -> leave(offset, wait));
        SluiceException end = closed;
        if (end != null) {
            wait.completeExceptionally(end);
        }
    }

    private void leave(long offset, Wait wait) {
        waits.computeIfPresent(offset, (at, all) -> {
            List<Wait> others = new ArrayList<>(all);
            if (others.remove(wait)) {
                count.decrementAndGet();
            }
            return others.isEmpty() ? null : others;
        });
    }

    /** The counter has changed. */
    void changed(long offset, long value) {
        if (count.get() != 0) {
            wake(offset, value);
        }
    }

    private void wake(long offset, long value) {
        List<Wait> all = waits.get(offset);
        if (all != null) {
            for (Wait wait : all) {
                if (wait.isSatisfiedBy(value)) {
                    wait.complete(value);
                }
            }
        }
    }

    /** Nobody will change the counters any more. */
    void close(SluiceException why) {
        closed = why;
        waits.values().forEach(all -> all.forEach(wait -> wait.completeExceptionally(why)));
    }
}
