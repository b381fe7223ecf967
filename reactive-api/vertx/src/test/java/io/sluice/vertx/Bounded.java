package io.sluice.vertx;

import io.sluice.testkit.Patience;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Waits that end. */
final class Bounded {
    static final Duration BOUND = Patience.BOUND;

    private Bounded() {}

    static <T> T await(Future<T> future) throws Exception {
        return await(future.toCompletionStage());
    }

    static <T> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(BOUND.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The error of a failed future. */
    static Throwable failure(Future<?> future) throws Exception {
        try {
            await(future);
        } catch (ExecutionException e) {
            return e.getCause();
        }
        throw new AssertionError("it did not fail");
    }
}
