package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.PageCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.testkit.Patience;
import java.util.BitSet;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Records the ends of a transfer of pages, which may run again and again. */
final class PageEnds implements PageCallback {
    private final LinkedBlockingQueue<End> ends = new LinkedBlockingQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    /** How one run ended. */
    record End(BitSet failed, Optional<SluiceException> error) {}

    @Override
    public void terminated(Transfer transfer, BitSet failed, @Nullable SluiceException error) {
        count.incrementAndGet();
        ends.add(new End((BitSet) failed.clone(), Optional.ofNullable(error)));
    }

    /** How many runs have ended. */
    int count() {
        return count.get();
    }

    /** Waits for the next end that was not waited for yet. */
    End await() {
        try {
            End end = ends.poll(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
            if (end == null) {
                throw new AssertionError("no run has ended within " + Patience.BOUND);
            }
            return end;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while pages are moved", e);
        }
    }

    void awaitSuccess() {
        End end = await();
        end.error().ifPresent(error -> {
            throw new AssertionError("expected success", error);
        });
        assertThat(end.failed().isEmpty()).as("no page failed").isTrue();
    }

    /** Waits for a failure; gives the pages that failed. */
    BitSet awaitFailure(Class<? extends SluiceException> type) {
        End end = await();
        assertThat(end.error()).containsInstanceOf(type);
        return end.failed();
    }
}
