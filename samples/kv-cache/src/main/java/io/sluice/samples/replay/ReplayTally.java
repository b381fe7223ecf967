package io.sluice.samples.replay;

import io.sluice.samples.prefill.PageMover;
import io.sluice.samples.prefill.PageMover.RequestOutcome;
import io.sluice.samples.report.ReplaySummary;
import org.HdrHistogram.Histogram;

/** Adds up how the requests of a replay ended. Any thread. */
final class ReplayTally {
    private static final double NANOS = 1e9;

    private final Histogram transferNanos = new Histogram(3);
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

    synchronized long requestsUnaccounted() {
        return requestsUnaccounted;
    }

    synchronized ReplaySummary summary(
            String model, boolean interrupted, long linesSkipped, PageMover session, PageMover.Phases phases) {
        PageMover.RecoveryFigures recovery = session.recovery();
        return new ReplaySummary(
                model,
                session.transport(),
                interrupted,
                requests,
                linesSkipped,
                pagesMoved,
                pagesReused,
                pagesCorrupted,
                bytes,
                pageBytes,
                (endNanos - startNanos) / NANOS,
                phases == PageMover.Phases.SEPARATE ? writeNanos / NANOS : null,
                ReplaySummary.TransferMillis.of(transferNanos),
                session.inFlight().maxOperations(),
                session.inFlight().maxBytes(),
                recovery.reconnects(),
                recovery.requestsRepeated(),
                recovery.pagesRepeated());
    }
}
