package io.sluice.experts.backend;

/** A put or signal with the same ranges each time. Starting it allocates nothing. The loop's alone. */
public interface PreparedPut {
    /**
     * Starts it. A run that was started before need not have ended: the runs then follow one another.
     *
     * @param callback called when this run has ended
     */
    void start(CommCallback callback);
}
