package io.sluice.vertx;

/** Where a vectored transfer takes its elements from. Called on the stream's context; {@link #stop()} by any thread. */
interface ElementSource {
    /** The stream begins. */
    void begin(VectoredStream stream);

    /** The stream takes so many more. */
    void request(long count);

    /** The stream takes none any more. */
    void stop();
}
