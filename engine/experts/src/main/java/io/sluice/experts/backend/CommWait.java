package io.sluice.experts.backend;

/** A wait for a word of this rank's symmetric memory. Arming it allocates nothing. The loop's alone. */
public interface CommWait {
    /**
     * Returns the word.
     *
     * @return its value; what precedes the signals that led to it is visible
     */
    long value();

    /**
     * Waits until the word reaches a value. The callback given at creation is called once, never inside this call.
     *
     * @param atLeast the least value
     * @throws IllegalStateException if it waits already
     */
    void arm(long atLeast);

    /**
     * Ends the wait for now; it can be armed again.
     *
     * @return true if no call of the callback follows; false if it did not wait, or the callback is about to be called
     */
    boolean disarm();

    /** Ends the wait; its callback is not called any more. */
    void close();
}
