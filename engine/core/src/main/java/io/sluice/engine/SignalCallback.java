package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/** Called when a signal has reached a value. See {@link Signal#onAtLeast(long, EngineLoop, SignalCallback)}. */
@FunctionalInterface
public interface SignalCallback {
    /**
     * Called when the wait has ended: exactly once for each time it was armed and not disarmed, on the thread of its
     * loop, and never inside {@link SignalWait#arm} while the engine is open. Must not block. It may arm the wait
     * again, but not after an error: a closed region always answers with the error, and a closed engine does so inside
     * {@code arm}.
     *
     * @param wait the wait, no longer armed
     * @param value the value that was seen, at least the minimum; the signal may have moved on since. 0 if there is an
     *     error
     * @param error {@code null}, or {@link RegionClosedException} if the region was closed first
     */
    void reached(SignalWait wait, long value, @Nullable SluiceException error);
}
