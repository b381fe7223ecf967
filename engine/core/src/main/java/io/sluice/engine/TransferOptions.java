package io.sluice.engine;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How one transfer is carried out.
 *
 * @param deadline the longest time from submission to the terminal signal, waiting for credits included; positive, at most
 *     365 days, or {@code null} for none (the connection's liveness time-out still bounds it once it is posted)
 * @param priority which waiting transfers go first
 * @param startAfter what must happen before the transfer may be posted, or {@code null} for nothing
 * @param completeInto what the end of the transfer brings about, or {@code null} for nothing but its callback
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
     * No deadline, normal priority, no event.
     *
     * @return the defaults
     */
    public static TransferOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The same with a deadline.
     *
     * @param time the longest time from submission to the terminal signal
     * @return new options
     */
    public TransferOptions withDeadline(Duration time) {
        return new TransferOptions(Objects.requireNonNull(time, "time"), priority, startAfter, completeInto);
    }

    /**
     * The same with a priority.
     *
     * @param value which waiting transfers go first
     * @return new options
     */
    public TransferOptions withPriority(TransferPriority value) {
        return new TransferOptions(deadline, value, startAfter, completeInto);
    }

    /**
     * The same, but started by an event. The transfer is submitted at once: it counts as pending, its deadline runs, a
     * notification or {@code STRONG} signal submitted after it waits for it. It takes no credit before the event, unless
     * it is a {@link StreamEvent} that the connection's transport waits for on the device.
     *
     * @param event what must happen first
     * @return new options
     */
    public TransferOptions startAfter(StartEvent event) {
        return new TransferOptions(deadline, priority, Objects.requireNonNull(event, "event"), completeInto);
    }

    /**
     * The same, but its end completes an event, too; on the device, if it is a {@link StreamCompletion} that the connection's
     * transport completes into.
     *
     * @param event what the end brings about
     * @return new options
     */
    public TransferOptions completeInto(CompletionEvent event) {
        return new TransferOptions(deadline, priority, startAfter, Objects.requireNonNull(event, "event"));
    }
}
