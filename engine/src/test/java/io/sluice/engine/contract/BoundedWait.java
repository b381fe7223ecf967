package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.sluice.engine.SluiceException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits that end. A thing that does not happen fails the test instead of hanging it. */
final class BoundedWait {
    private BoundedWait() {}

    /** The value; an error that the future carries is thrown as it is. */
    static <T> T await(CompletionStage<T> stage) {
        return await(stage, ContractProfile.current().patience());
    }

    static <T> T await(CompletionStage<T> stage, Duration bound) {
        try {
            return stage.toCompletableFuture().get(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw new AssertionError("the future carries a checked exception", e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("did not complete within " + bound + ": " + stage, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + stage, e);
        }
    }

    /** The error that the future carries; a success, or an error of another type, fails the test. */
    static <E extends SluiceException> E awaitFailure(CompletionStage<?> stage, Class<E> type) {
        Object value;
        try {
            value = await(stage);
        } catch (SluiceException e) {
            assertThat(e).isInstanceOf(type);
            return type.cast(e);
        }
        return fail("expected " + type.getSimpleName() + ", but it completed with " + value);
    }

    static void await(CountDownLatch latch) {
        Duration bound = ContractProfile.current().patience();
        try {
            if (!latch.await(bound.toNanos(), TimeUnit.NANOSECONDS)) {
                fail(latch.getCount() + " counts were left after " + bound);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for a latch", e);
        }
    }

    static void until(String what, BooleanSupplier condition) {
        until(what, ContractProfile.current().patience(), condition);
    }

    static void until(String what, Duration bound, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > bound.toNanos()) {
                fail("not within " + bound + ": " + what);
            }
            LockSupport.parkNanos(500_000);
        }
    }

    /** Lets time pass in which something must not happen. */
    static void pause(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
