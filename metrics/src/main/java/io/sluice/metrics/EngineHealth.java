package io.sluice.metrics;

import io.sluice.engine.TransferEngine;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Liveness and readiness of an engine, for supervisors and load balancers. Each check asks every poller and waits a
 * bounded time for the answer. May be called from any thread except pollers, which must not wait.
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
     * The result of a check.
     *
     * @param isUp whether the check succeeded
     * @param detail the fault, in words; {@code up} if there is none
     */
    public record Status(boolean isUp, String detail) {
        private static final Status UP = new Status(true, "up");

        private static Status down(String detail) {
            return new Status(false, detail);
        }
    }

    /**
     * Creates a check with a patience of ten stall thresholds, at least a second.
     *
     * @param engine an open engine
     * @return the check
     */
    public static EngineHealth of(TransferEngine engine) {
        Duration thresholds = engine.options().stallThreshold().multipliedBy(THRESHOLDS);
        return new EngineHealth(engine, thresholds.compareTo(LEAST_PATIENCE) < 0 ? LEAST_PATIENCE : thresholds);
    }

    /**
     * Returns a check with another patience.
     *
     * @param time the longest time a poller may take to answer; more than zero
     * @return a new check; this one is unchanged
     */
    public EngineHealth withPatience(Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException("time is more than zero, not " + time);
        }
        return new EngineHealth(engine, time);
    }

    /**
     * Checks that every poller makes progress: none has failed, and none has been in one duty cycle for longer than the
     * patience. A closed engine is not live.
     *
     * @return the result, within the patience
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
     * Checks that the engine is live and, if it was configured to listen, listens.
     *
     * @return the result, within the patience
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
