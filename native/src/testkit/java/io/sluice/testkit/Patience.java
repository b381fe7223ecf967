package io.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Waits that end: what does not happen fails the test instead of hanging it. All tests wait with this one patience. It is
 * much more than anything needs, grows with the slowness of the machine, and is never what a test measures.
 */
public final class Patience {
    /** The longest that any one thing may take. */
    public static final Duration BOUND = scaled(Duration.ofSeconds(60));

    private Patience() {}

    /** A bound that was chosen on an idle machine, made longer as this machine is slower. */
    public static Duration scaled(Duration onIdleMachine) {
        return Duration.ofNanos((long) (onIdleMachine.toNanos() * Slowness.FACTOR));
    }

    /** The longest that the few things may take that move gigabytes or a million transfers. */
    public static Duration longBound() {
        return BOUND.multipliedBy(4);
    }

    /** The value; an unchecked error that the stage carries is thrown as it is. */
    public static <T> T await(CompletionStage<T> stage) {
        return await(stage, BOUND);
    }

    public static <T> T await(CompletionStage<T> stage, Duration bound) {
        try {
            return stage.toCompletableFuture().get(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw new AssertionError("the stage carries a checked exception", e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("did not complete within " + bound + ": " + stage, e);
        } catch (InterruptedException e) {
            throw interrupted("a stage", e);
        }
    }

    /**
     * The values of all, each waited for. Where some fail, the message has the error of each: the first one may follow from
     * another's.
     *
     * @param what they are, for the message
     */
    public static <T> List<T> awaitAll(String what, List<? extends CompletionStage<? extends T>> stages) {
        List<T> values = new ArrayList<>();
        List<Throwable> errors = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < stages.size(); i++) {
            try {
                values.add(await(stages.get(i)));
            } catch (RuntimeException | Error e) {
                errors.add(e);
                texts.add(i + ": " + e + (e.getCause() == null ? "" : ", caused by " + e.getCause()));
            }
        }
        if (!errors.isEmpty()) {
            AssertionError failed = new AssertionError(what + " failed, " + String.join("; ", texts), errors.getFirst());
            errors.stream().skip(1).forEach(failed::addSuppressed);
            throw failed;
        }
        return values;
    }

    /** The error that the stage carries; a success, or an error of another type, fails the test. */
    public static <E extends RuntimeException> E failure(CompletionStage<?> stage, Class<E> type) {
        return failure(stage, type, BOUND);
    }

    public static <E extends RuntimeException> E failure(CompletionStage<?> stage, Class<E> type, Duration bound) {
        Object value;
        try {
            value = await(stage, bound);
        } catch (RuntimeException e) {
            assertThat(e).isInstanceOf(type);
            return type.cast(e);
        }
        return fail("expected " + type.getSimpleName() + ", but it completed with " + value);
    }

    /** Waits for a latch to be open. */
    public static void await(CountDownLatch latch) {
        try {
            if (!latch.await(BOUND.toNanos(), TimeUnit.NANOSECONDS)) {
                fail(latch.getCount() + " counts were left after " + BOUND);
            }
        } catch (InterruptedException e) {
            throw interrupted("a latch", e);
        }
    }

    /** The next element of a queue. */
    public static <T> T take(String what, BlockingQueue<T> queue) {
        try {
            T element = queue.poll(BOUND.toNanos(), TimeUnit.NANOSECONDS);
            if (element == null) {
                fail("not within " + BOUND + ": " + what);
            }
            return element;
        } catch (InterruptedException e) {
            throw interrupted(what, e);
        }
    }

    /** Waits for a thread to end. */
    public static void join(Thread thread) {
        try {
            if (!thread.join(BOUND)) {
                fail("not ended within " + BOUND + ": " + thread);
            }
        } catch (InterruptedException e) {
            throw interrupted(thread.toString(), e);
        }
    }

    /** Waits for a process to end. Its exit status. */
    public static int exit(Process process) {
        try {
            if (!process.waitFor(BOUND.toNanos(), TimeUnit.NANOSECONDS)) {
                fail("not ended within " + BOUND + ": " + process.info());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            throw interrupted("a process", e);
        }
    }

    /** Waits for something to be so, and to stay so: a state that passes by may be missed. */
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

    /**
     * Waits for the end of long work that counts its steps: it fails when no step is done for the longest that one thing may
     * take, or when the work fails.
     *
     * @param done completes at the end
     * @param steps how many have been done, or are left
     */
    public static void awaitSteps(String what, CompletableFuture<?> done, LongSupplier steps) {
        long counted = steps.getAsLong();
        long since = System.nanoTime();
        while (!done.isDone()) {
            long now = steps.getAsLong();
            if (now != counted) {
                counted = now;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > BOUND.toNanos()) {
                fail("no step of " + what + " within " + BOUND + ", at " + counted);
            }
            LockSupport.parkNanos(500_000);
        }
        await(done);
    }

    /** Lets time pass in which something must not happen. A longer pause only makes such a test stricter. */
    public static void pause(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static AssertionError interrupted(String what, InterruptedException e) {
        Thread.currentThread().interrupt();
        return new AssertionError("interrupted while waiting for " + what, e);
    }
}
