package io.sluice.samples.prefill;

/** Whether what is done to a request's pages overlaps: filling, writing and checking them. */
public enum Phases {
    /** While some pages are on their way others are filled, and those of other requests checked: the fastest way. */
    OVERLAPPING,
    /**
     * A request's pages are filled in bursts, each before it is written, and are checked when all are written. If there is
     * one request at a time, neither side does anything but write while the clock of {@link RequestOutcome#writeNanos} runs.
     */
    SEPARATE
}
