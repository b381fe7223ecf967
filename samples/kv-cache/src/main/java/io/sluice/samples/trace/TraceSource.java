package io.sluice.samples.trace;

import java.util.Iterator;

/** Requests in the order of their arrival, one at a time. Confined to one thread at a time. */
public interface TraceSource extends Iterator<TraceRequest>, AutoCloseable {

    /** What was left out of the trace so far because it could not be understood. */
    SkippedLines skipped();

    /** Lets go of what the source holds open. */
    @Override
    void close();
}
