package io.sluice.samples.report;

/**
 * How far a replay has come.
 *
 * @param requestsDone requests that have ended
 * @param requestsTotal requests there are, or {@link #UNKNOWN}
 * @param bytesMoved bytes transferred so far
 * @param inFlight operations in flight now
 * @param pagesMoved pages transferred so far, over all layers
 * @param pagesReused pages found in the cache so far, over all layers
 */
public record Progress(
        long requestsDone, long requestsTotal, long bytesMoved, long inFlight, long pagesMoved, long pagesReused) {

    /** Stands for a number of requests that is not known before the end of the trace. */
    public static final long UNKNOWN = -1;
}
