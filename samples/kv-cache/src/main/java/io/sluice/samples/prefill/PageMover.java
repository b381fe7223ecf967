package io.sluice.samples.prefill;

import io.sluice.samples.kvcache.PageGeometry;
import io.sluice.samples.trace.TraceRequest;
import reactor.core.publisher.Mono;

/** Moves the pages of requests to a decode side. Several requests may be under way at once. Any thread. */
public interface PageMover {
    /**
     * Moves what the decode side lacks of a request's pages, and has it checked.
     *
     * @param requestId unique to this mover
     * @param phases whether filling and writing overlap. If not, this is for one request at a time; another one fails
     *     with {@link IllegalStateException}
     */
    Mono<RequestOutcome> replay(long requestId, TraceRequest request, Phases phases);

    PageGeometry geometry();

    String transport();

    InFlightFigures inFlight();

    /** Bytes acknowledged so far: of pages, and of the seal of each. */
    long bytesMoved();

    RecoveryFigures recovery();

    Mono<Void> close();

    /**
     * The repetitions after connections that ended too early.
     *
     * @param reconnects how often there was another one after that
     * @param requestsRepeated requests that were moved again, each counted as often as that
     * @param pagesRepeated pages of theirs that had been written until then, with any outcome, over all layers
     */
    public record RecoveryFigures(long reconnects, long requestsRepeated, long pagesRepeated) {}

    /** Operations and bytes in flight to the decode side. */
    public record InFlightFigures(long operations, long maxOperations, long maxBytes) {
        /** The same, with the most of what was seen before. */
        InFlightFigures after(InFlightFigures before) {
            return new InFlightFigures(
                    operations, Math.max(maxOperations, before.maxOperations), Math.max(maxBytes, before.maxBytes));
        }
    }

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

    /**
     * How a request ended.
     *
     * @param pages pages of the request, over all layers
     * @param bytes all that was written and acknowledged: pages, and the seal of each
     * @param pageBytes those of pages
     * @param writeNanos how long writes were under way in {@linkplain PageMover.Phases#SEPARATE separate phases}: of each burst from its
     *     submission to its last completion, without filling and checking; 0 if phases overlapped
     * @param transferNanos from the last filled page to the last visible page; {@link #NOTHING_MOVED} if no page was moved
     */
    record RequestOutcome(
            long pages,
            long pagesMoved,
            long pagesReused,
            long pagesChecked,
            long pagesCorrupted,
            long bytes,
            long pageBytes,
            long writeNanos,
            long transferNanos) {
        /** Stands for a transfer time that does not exist. */
        public static final long NOTHING_MOVED = -1;

        /** Whether every page was either moved and checked, or reused. */
        public boolean accountedFor() {
            return pagesMoved + pagesReused == pages && pagesChecked == pagesMoved;
        }
    }
}
