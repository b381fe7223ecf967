package io.sluice.metrics;

import io.sluice.engine.TransferEngine;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Whether an engine lives and can be used, for supervisors and load balancers. Each question goes to every poller
 * and back, and waits for the answer a bounded time. Any thread but a poller's, which must not wait.
 */
public final class EngineHealth {
    private static final int THRESHOLDS = 10;
    private static final Duration LEAST_PATIENCE = Duration.ofSeconds(1);

    private final TransferEngine engine;
    private final Duration patience;

    private EngineHealth(TransferEngine engine, Duration patience) {
        this.engine = Objects.requireNonNull(engine, "engine");
        this.patience = patience;
    }

    /**
     * An answer.
     *
     * @param isUp whether all is well
     * @param detail what is wrong, in words; {@code up} if nothing is
     */
    public record Status(boolean isUp, String detail) {
        private static final Status UP = new Status(true, "up");

        private static Status down(String detail) {
            return new Status(false, detail);
        }
    }

    /**
     * With ten stall thresholds of patience, at least a second.
     *
     * @param engine open
     * @return its health
     */
    public static EngineHealth of(TransferEngine engine) {
        Duration thresholds = engine.options().stallThreshold().multipliedBy(THRESHOLDS);
        return new EngineHealth(engine, thresholds.compareTo(LEAST_PATIENCE) < 0 ? LEAST_PATIENCE : thresholds);
    }

    /**
     * The same with another patience.
     *
     * @param time how long a poller may take to answer; more than zero
     * @return a new health; this one is unchanged
     */
    public EngineHealth withPatience(Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException("time is more than zero, not " + time);
        }
        return new EngineHealth(engine, time);
    }

    /**
     * Whether every poller goes on: none has failed, and none is held up in a duty cycle for longer than the patience. An engine
     * that is closed does not live.
     *
     * @return the answer, within the patience
     */
    public Status live() {
        CompletableFuture<Void> pingPollers = engine.pingPollers();
        try {
            pingPollers.get(patience.toNanos(), TimeUnit.NANOSECONDS);
            return Status.UP;
        } catch (TimeoutException e) {
            return Status.down("a poller has not ended a duty cycle for " + patience.toMillis() + " ms");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return Status.down(String.valueOf(cause.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Status.down("interrupted");
        }
    }

    /**
     * Whether it lives and, if it was to listen, listens.
     *
     * @return the answer, within the patience
     */
    public Status ready() {
        Status live = live();
        if (live.isUp() && engine.options().listenHost() != null) {
            try {
                engine.address();
            } catch (IllegalStateException e) {
                return Status.down(String.valueOf(e.getMessage()));
            }
        }
        return live;
    }
}
