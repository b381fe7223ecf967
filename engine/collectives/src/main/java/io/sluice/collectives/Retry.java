package io.sluice.collectives;

import io.sluice.engine.SluiceException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Tries again, a little later, until something succeeds or the time is over. Any thread. */
final class Retry {
    private static final long PAUSE_MILLIS = 2;

    private final long end;
    private final String waitedFor;

    Retry(Duration time, String waitedFor) {
        this.end = System.nanoTime() + time.toNanos();
        this.waitedFor = waitedFor;
    }

    <T> CompletableFuture<T> until(
            Supplier<CompletableFuture<T>> attempt, Predicate<T> enough, Predicate<Throwable> again) {
        return attempt.get()
                .handle((value, error) -> {
                    if (error == null && enough.test(value)) {
                        return CompletableFuture.completedFuture(value);
                    }
                    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
                    if (cause != null && !again.test(cause)) {
                        return CompletableFuture.<T>failedFuture(cause);
                    }
                    if (System.nanoTime() - end >= 0) {
                        return CompletableFuture.<T>failedFuture(timedOut(cause));
                    }
                    Executor later = CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
                    return CompletableFuture.supplyAsync(() -> until(attempt, enough, again), later)
                            .thenCompose(next -> next);
                })
                .thenCompose(next -> next);
    }

    /** Waits for something that others do, until the time is over. */
    <T> CompletableFuture<T> within(CompletableFuture<T> awaited) {
        return awaited.copy()
                .orTimeout(end - System.nanoTime(), TimeUnit.NANOSECONDS)
                .handle((value, error) -> {
                    if (error == null) {
                        return CompletableFuture.completedFuture(value);
                    }
                    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
                    return CompletableFuture.<T>failedFuture(
                            cause instanceof TimeoutException ? timedOut(null) : cause);
                })
                .thenCompose(ended -> ended);
    }

    private SluiceException timedOut(@org.jspecify.annotations.Nullable Throwable cause) {
        CollectiveTimeoutException error = new CollectiveTimeoutException("the time is over in which " + waitedFor);
        if (cause != null) {
            error.addSuppressed(cause);
        }
        return error;
    }
}
