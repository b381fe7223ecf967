package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits that end: what does not happen fails the test instead of hanging it. */
public final class Patience {
    /** The longest that any one thing may take on a slow machine; nothing is expected to need it. */
    public static final Duration BOUND = Duration.ofSeconds(60);

    private Patience() {}

    /** The value; an unchecked error that the stage carries is thrown as it is. */
    public static <T> T get(CompletionStage<T> stage) {
        return get(stage, BOUND);
    }

    public static <T> T get(CompletionStage<T> stage, Duration bound) {
        try {
            return stage.toCompletableFuture().get(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError("the stage carries no engine's exception", e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("did not complete within " + bound, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** The error that the stage carries; a success, or an error of another type, fails the test. */
    public static <E extends RuntimeException> E failure(CompletionStage<?> stage, Class<E> type) {
        return failure(stage, type, BOUND);
    }

    public static <E extends RuntimeException> E failure(CompletionStage<?> stage, Class<E> type, Duration bound) {
        Object value;
        try {
            value = get(stage, bound);
        } catch (RuntimeException e) {
            assertThat(e).isInstanceOf(type);
            return type.cast(e);
        }
        return fail("expected " + type.getSimpleName() + ", but it completed with " + value);
    }

    public static void until(String what, BooleanSupplier condition) {
        until(what, BOUND, condition);
    }

    public static void until(String what, Duration bound, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > bound.toNanos()) {
                fail("not within " + bound + ": " + what);
            }
            LockSupport.parkNanos(500_000);
        }
    }

    /** Lets time pass in which something must not happen. */
    public static void pause(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
