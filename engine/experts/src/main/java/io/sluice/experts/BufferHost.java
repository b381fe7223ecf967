package io.sluice.experts;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** The whole of an expert buffer, as its parts see it. */
interface BufferHost {
    /** Says that there is work. Any thread. */
    void signal();

    /** Returns the threads that help the loop, or null. Any thread. */
    @Nullable
    HelperThreads helpers();

    /** Throws the error that ended the buffer, if one has. Any thread. */
    void check();

    /** Ends the buffer. The loop's. */
    void fail(SluiceException error);

    /** Ends the buffer, as a rank is lost or has left. The loop's. */
    void lost(int rank, @Nullable Throwable cause);

    /** Ends the buffer, as something could not be put to a rank. The loop's. */
    void putFailed(int rank, SluiceException error);
}
