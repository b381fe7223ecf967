package io.sluice.engine;

/**
 * Waits for a signal on a loop, again and again: once it is made a wait allocates nothing. Made by
 * {@link Signal#onAtLeast(long, EngineLoop, SignalCallback)}. All methods may be called from any thread.
 */
public interface SignalWait extends AutoCloseable {
    /**
     * Waits until the signal is at least this; its callback follows, also if it is so already or the region is closed.
     *
     * @param value the least
     * @throws IllegalStateException if it is armed, its callback is still to come, or it is closed
     */
    void arm(long value);

    /**
     * Gives the present wait up. It can be armed again.
     *
     * @return true if no callback follows; false if it was not armed, or its callback has been called or is about to be
     */
    boolean disarm();

    /**
     * Gives the wait up for good. Until then, or the end of the region, each update of the signal looks at it. As with
     * {@link #disarm()} a callback may be about to be called.
     */
    @Override
    void close();
}
