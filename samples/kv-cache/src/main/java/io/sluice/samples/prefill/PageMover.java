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

    /** Layout of the decode side's page pool. */
    PageGeometry geometry();

    /** The transport that carries the pages. */
    String transport();

    /** What is in flight. */
    InFlightFigures inFlight();

    /** Bytes acknowledged so far: of pages, and of the seal of each. */
    long bytesMoved();

    /** What came of broken connections. */
    RecoveryFigures recovery();

    /** Takes leave of the decode side. */
    Mono<Void> close();
}
