package io.sluice.reactor.recovery;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A circuit breaker for a peer that fails repeatedly. While closed it counts failures; when the limit is reached within
 * the window it opens and refuses attempts for a time. Then it is half open and lets one attempt through: if that
 * succeeds the circuit closes and forgets the failures, otherwise it opens again.
 *
 * <p>All methods may be called from any thread, and block only while another of them runs.
 */
public final class CircuitBreaker {
    private final CircuitBreakerOptions options;
    private final LongSupplier nanoTime;
    /** The times of the latest failures, as a ring: the circuit opens when the oldest of them is within the window. */
    private final long[] failedAt;

    private CircuitState state = CircuitState.CLOSED;
    private int failures;
    private int next;
    private long openedAt;
    private boolean probing;
    private long opened;

    CircuitBreaker(CircuitBreakerOptions options, LongSupplier nanoTime) {
        this.options = options;
        this.nanoTime = nanoTime;
        this.failedAt = new long[options.failures()];
    }

    /**
     * Creates a circuit breaker.
     *
     * @param options when the circuit opens, and for how long
     * @return a closed circuit breaker
     */
    public static CircuitBreaker of(CircuitBreakerOptions options) {
        return new CircuitBreaker(options, System::nanoTime);
    }

    /**
     * Returns the current state.
     *
     * @return the state; {@code HALF_OPEN} once the open time is over, even before the first attempt
     */
    public synchronized CircuitState state() {
        if (state == CircuitState.OPEN && openNanosLeft() <= 0) {
            state = CircuitState.HALF_OPEN;
            probing = false;
        }
        return state;
    }

    /**
     * Returns how much longer attempts are refused.
     *
     * @return 0 unless the circuit is open
     */
    public synchronized Duration remaining() {
        return state() == CircuitState.OPEN ? Duration.ofNanos(openNanosLeft()) : Duration.ZERO;
    }

    /**
     * Returns how often the circuit has opened.
     *
     * @return a count that only grows
     */
    public synchronized long opened() {
        return opened;
    }

    /**
     * Asks for permission to make an attempt. A caller that gets it reports the outcome by {@link #succeeded()} or
     * {@link #failed()}.
     *
     * @return true if the attempt may be made; while half open that is once
     */
    public synchronized boolean tryAcquire() {
        return switch (state()) {
            case CLOSED -> true;
            case OPEN -> false;
            case HALF_OPEN -> {
                boolean first = !probing;
                probing = true;
                yield first;
            }
        };
    }

    /** Reports that the attempt of a half-open circuit succeeded, which closes the circuit. Has no effect otherwise. */
    public synchronized void succeeded() {
        if (state() == CircuitState.HALF_OPEN && probing) {
            state = CircuitState.CLOSED;
            failures = 0;
            next = 0;
        }
    }

    /** Reports a failure of an attempt, or of a connection that did not last. Ignored while the circuit is open. */
    public synchronized void failed() {
        switch (state()) {
            case CLOSED -> count();
            case HALF_OPEN -> open();
            case OPEN -> {}
        }
    }

    private void count() {
        if (failedAt.length == 0) {
            return;
        }
        long now = nanoTime.getAsLong();
        failedAt[next] = now;
        next = (next + 1) % failedAt.length;
        failures = Math.min(failures + 1, failedAt.length);
        // next is now the oldest, if the ring is full
        if (failures == failedAt.length
                && now - failedAt[next] <= options.window().toNanos()) {
            open();
        }
    }

    private void open() {
        state = CircuitState.OPEN;
        openedAt = nanoTime.getAsLong();
        opened++;
    }

    private long openNanosLeft() {
        return options.openTime().toNanos() - (nanoTime.getAsLong() - openedAt);
    }
}
