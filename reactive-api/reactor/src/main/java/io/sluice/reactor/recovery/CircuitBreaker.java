package io.sluice.reactor.recovery;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Leaves a peer alone that fails again and again. Closed, it counts failures; when there were so many within the window it opens
 * and refuses attempts for a time. Then it is half open and lets one attempt through: if that succeeds the circuit closes and
 * forgets the failures, otherwise it opens once more.
 *
 * <p>All methods may be called from any thread. None blocks for longer than another of them takes.
 */
public final class CircuitBreaker {
    private final CircuitBreakerOptions options;
    private final LongSupplier nanoTime;
    /** When the youngest failures were, as a ring: the circuit opens when the oldest of them is within the window. */
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
     * Makes one.
     *
     * @param options when it opens, and for how long
     * @return a closed circuit
     */
    public static CircuitBreaker of(CircuitBreakerOptions options) {
        return new CircuitBreaker(options, System::nanoTime);
    }

    /**
     * What it lets through now.
     *
     * @return {@code HALF_OPEN} from the end of its time on, even before the first attempt
     */
    public synchronized CircuitState state() {
        if (state == CircuitState.OPEN && openNanosLeft() <= 0) {
            state = CircuitState.HALF_OPEN;
            probing = false;
        }
        return state;
    }

    /**
     * How long it refuses still.
     *
     * @return 0 unless it is open
     */
    public synchronized Duration remaining() {
        return state() == CircuitState.OPEN ? Duration.ofNanos(openNanosLeft()) : Duration.ZERO;
    }

    /**
     * How often it has opened.
     *
     * @return only ever grows
     */
    public synchronized long opened() {
        return opened;
    }

    /**
     * Asks for an attempt. A caller that is let through reports the outcome by {@link #succeeded()} or {@link #failed()}.
     *
     * @return whether to try; while half open that is true once
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

    /** The attempt that a half-open circuit let through has succeeded: it closes. Of no effect otherwise. */
    public synchronized void succeeded() {
        if (state() == CircuitState.HALF_OPEN && probing) {
            state = CircuitState.CLOSED;
            failures = 0;
            next = 0;
        }
    }

    /** Something failed: an attempt, or what was thought to have succeeded. While the circuit is open that counts for nothing. */
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
        // next is the oldest now, if the ring is full
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
