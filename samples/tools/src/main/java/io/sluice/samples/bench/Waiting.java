package io.sluice.samples.bench;

import io.sluice.engine.SluiceException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for what a poller brings about, a bounded time. */
final class Waiting {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Waiting() {}

    /** Waits longer than anything takes on a connection that is not lost. */
    static <T> T await(CompletableFuture<T> future, String what) {
        try {
            return await(future, PATIENCE);
        } catch (TimeoutException e) {
            throw BenchException.failed(what + " did not end within " + PATIENCE.toSeconds() + " s");
        }
    }

    static <T> T await(CompletableFuture<T> future, Duration patience) throws TimeoutException {
        try {
            return future.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof SluiceException known
                    ? known
                    : new IllegalStateException("this always ends in one of the engine's errors", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
    }
}
