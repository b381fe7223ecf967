package io.sluice.samples.replay;

import io.sluice.samples.prefill.RequestOutcome;
import io.sluice.samples.report.ReplaySummary;
import org.HdrHistogram.Histogram;

/** Adds up how the requests of a replay ended. Any thread. */
final class ReplayTally {

    private static final int SIGNIFICANT_DIGITS = 3;

    private final Histogram transferNanos = new Histogram(SIGNIFICANT_DIGITS);
    private long startNanos;
    private long endNanos;
    private long requests;
    private long pagesMoved;
    private long pagesReused;
    private long pagesCorrupted;
    private long requestsUnaccounted;
    private long bytes;
    private long pageBytes;
    private long writeNanos;

    /** The first request is about to be sent. */
    synchronized void start() {
        startNanos = System.nanoTime();
        endNanos = startNanos;
    }

    synchronized void add(RequestOutcome outcome) {
        endNanos = System.nanoTime();
        requests++;
        pagesMoved += outcome.pagesMoved();
        pagesReused += outcome.pagesReused();
        pagesCorrupted += outcome.pagesCorrupted();
        requestsUnaccounted += outcome.accountedFor() ? 0 : 1;
        bytes += outcome.bytes();
        pageBytes += outcome.pageBytes();
        writeNanos += outcome.writeNanos();
        if (outcome.transferNanos() != RequestOutcome.NOTHING_MOVED) {
            transferNanos.recordValue(Math.max(0, outcome.transferNanos()));
        }
    }

    synchronized long requests() {
        return requests;
    }

    /** Pages moved by the requests that have ended, over all layers. */
    synchronized long pagesMoved() {
        return pagesMoved;
    }

    /** Pages that the requests that have ended did not have to move, over all layers. */
    synchronized long pagesReused() {
        return pagesReused;
    }

    /** Pages that did not arrive as they were filled. */
    synchronized long pagesCorrupted() {
        return pagesCorrupted;
    }

    /** Requests of which some page was neither moved and checked nor reused. */
    synchronized long requestsUnaccounted() {
        return requestsUnaccounted;
    }

    /** All bytes moved: those of pages, and the seal of each. */
    synchronized long bytes() {
        return bytes;
    }

    synchronized long pageBytes() {
        return pageBytes;
    }

    /** How long writes were under way while nothing else was done. */
    synchronized double writeSeconds() {
        return writeNanos / 1e9;
    }

    /** From the start to the end of the last request that has ended. */
    synchronized double seconds() {
        return (endNanos - startNanos) / 1e9;
    }

    synchronized ReplaySummary.TransferMillis transferMillis() {
        return ReplaySummary.TransferMillis.of(transferNanos);
    }
}
