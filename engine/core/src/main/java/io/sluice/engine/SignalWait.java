package io.sluice.engine;

/**
 * A reusable wait for a signal on a loop. Once created it allocates nothing. Created by {@link Signal#onAtLeast(long,
 * EngineLoop, SignalCallback)}; a wait for a device's words on a loop returns one as well, and says what its callback
 * may get. All methods may be called from any thread.
 */
public interface SignalWait extends AutoCloseable {
    /**
     * Waits until the signal reaches a minimum. The callback follows even if the value is already reached or the region
     * is closed.
     *
     * @param value the least
     * @throws IllegalStateException if the wait is armed or closed, or its callback is still to come
     */
    void arm(long value);

    /**
     * Cancels the current wait, which can be armed again.
     *
     * @return true if no callback follows; false if the wait was not armed, or its callback was called or is about to
     *     be
     */
    boolean disarm();

    /**
     * Closes the wait. Until then, or until the region closes, each update of the signal checks it. As with {@link
     * #disarm()}, a callback may be about to be called.
     */
    @Override
    void close();
}
