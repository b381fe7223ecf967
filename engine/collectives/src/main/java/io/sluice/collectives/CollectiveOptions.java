package io.sluice.collectives;

import io.sluice.engine.StartEvent;
import io.sluice.engine.TransferPriority;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of one collective. Immutable.
 *
 * @param timeout the longest time from the call to the terminal signal, positive; {@code null} for the team's. When it
 *     passes, the team is revoked
 * @param algorithm the algorithm, the same on all ranks
 * @param priority the priority of the transfers
 * @param startAfter the event that must happen before this rank takes part, or {@code null}
 */
public record CollectiveOptions(
        @Nullable Duration timeout,
        Algorithm algorithm,
        TransferPriority priority,
        @Nullable StartEvent startAfter) {
    private static final CollectiveOptions DEFAULTS =
            new CollectiveOptions(null, Algorithm.AUTO, TransferPriority.NORMAL, null);

    /** Checks the range. */
    public CollectiveOptions {
        Objects.requireNonNull(algorithm, "algorithm");
        Objects.requireNonNull(priority, "priority");
        if (timeout != null) {
            TeamOptions.checkTimeout(timeout);
        }
    }

    /**
     * Returns options with the team's time-out and table of algorithms, normal priority and no event.
     *
     * @return the defaults
     */
    public static CollectiveOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with a time-out.
     *
     * @param time the longest time from the call to the terminal signal
     * @return new options
     */
    public CollectiveOptions withTimeout(Duration time) {
        return new CollectiveOptions(Objects.requireNonNull(time, "time"), algorithm, priority, startAfter);
    }

    /**
     * Returns these options with an algorithm.
     *
     * @param value the same on all ranks
     * @return new options
     */
    public CollectiveOptions withAlgorithm(Algorithm value) {
        return new CollectiveOptions(timeout, value, priority, startAfter);
    }

    /**
     * Returns these options with a priority.
     *
     * @param value the priority of the transfers
     * @return new options
     */
    public CollectiveOptions withPriority(TransferPriority value) {
        return new CollectiveOptions(timeout, algorithm, value, startAfter);
    }

    /**
     * Returns these options with an event. Later collectives of the same channel wait for it as well.
     *
     * @param event the event that must happen before this rank takes part
     * @return new options
     */
    public CollectiveOptions startAfter(StartEvent event) {
        return new CollectiveOptions(timeout, algorithm, priority, Objects.requireNonNull(event, "event"));
    }
}
