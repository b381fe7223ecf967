package io.sluice.engine;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options of one transfer.
 *
 * @param deadline the longest time from submission to the terminal signal, including the wait for credits; positive, at
 *     most 365 days, or {@code null} for none (the liveness time-out still bounds a posted transfer)
 * @param priority which waiting transfers go first
 * @param startAfter the event that must happen before the transfer is posted, or {@code null}
 * @param completeInto the event that the end of the transfer completes, or {@code null} for the callback alone
 */
public record TransferOptions(
        @Nullable Duration deadline,
        TransferPriority priority,
        @Nullable StartEvent startAfter,
        @Nullable CompletionEvent completeInto) {
    private static final Duration LONGEST = Duration.ofDays(365);
    private static final TransferOptions DEFAULTS = new TransferOptions(null, TransferPriority.NORMAL, null, null);

    /** Checks the range. */
    public TransferOptions {
        Objects.requireNonNull(priority, "priority");
        if (deadline != null && (!deadline.isPositive() || deadline.compareTo(LONGEST) > 0)) {
            throw new IllegalArgumentException("a deadline is positive and at most " + LONGEST + ", not " + deadline);
        }
    }

    /**
     * Returns options without a deadline, with normal priority and no event.
     *
     * @return the defaults
     */
    public static TransferOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Returns these options with a deadline.
     *
     * @param time the longest time from submission to the terminal signal
     * @return new options
     */
    public TransferOptions withDeadline(Duration time) {
        return new TransferOptions(Objects.requireNonNull(time, "time"), priority, startAfter, completeInto);
    }

    /**
     * Returns these options with a priority.
     *
     * @param value which waiting transfers go first
     * @return new options
     */
    public TransferOptions withPriority(TransferPriority value) {
        return new TransferOptions(deadline, value, startAfter, completeInto);
    }

    /**
     * Returns these options with an event that starts the transfer. The transfer is submitted immediately: it counts as
     * pending, its deadline runs, and notifications and {@code STRONG} signals submitted after it wait for it. It takes
     * no credit before the event, unless that is a {@link StreamEvent} for which the connection's transport waits on
     * the device.
     *
     * @param event the event that must happen first
     * @return new options
     */
    public TransferOptions startAfter(StartEvent event) {
        return new TransferOptions(deadline, priority, Objects.requireNonNull(event, "event"), completeInto);
    }

    /**
     * Returns these options with an event that the end of the transfer completes: on the device, if it is a {@link
     * StreamCompletion} into which the connection's transport completes.
     *
     * @param event the event to complete
     * @return new options
     */
    public TransferOptions completeInto(CompletionEvent event) {
        return new TransferOptions(deadline, priority, startAfter, Objects.requireNonNull(event, "event"));
    }
}
