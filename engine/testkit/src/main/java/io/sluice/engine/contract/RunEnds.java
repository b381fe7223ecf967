package io.sluice.engine.contract;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.testkit.Patience;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Records the ends of a transfer that runs again and again. */
final class RunEnds implements TransferCallback, FetchCallback {
    /** How one run ended. */
    record End(Transfer transfer, long previous, Optional<SluiceException> error) {}

    private final BlockingQueue<End> ends = new LinkedBlockingQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        terminated(transfer, 0, error);
    }

    @Override
    public void terminated(Transfer transfer, long previous, @Nullable SluiceException error) {
        count.incrementAndGet();
        ends.add(new End(transfer, previous, Optional.ofNullable(error)));
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
            throw new AssertionError("interrupted while a transfer runs", e);
        }
    }

    End awaitSuccess() {
        End end = await();
        end.error().ifPresent(error -> {
            throw new AssertionError("expected success", error);
        });
        return end;
    }

    <E extends SluiceException> E awaitFailure(Class<E> type) {
        SluiceException error =
                await().error().orElseThrow(() -> new AssertionError("expected " + type.getSimpleName()));
        if (!type.isInstance(error)) {
            throw new AssertionError("expected " + type.getSimpleName(), error);
        }
        return type.cast(error);
    }
}
