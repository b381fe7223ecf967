package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/** Called when a signal has reached a value. See {@link Signal#onAtLeast(long, EngineLoop, SignalCallback)}. */
@FunctionalInterface
public interface SignalCallback {
    /**
     * The wait is over. Called exactly once each time that it was armed and not disarmed, on the thread of its loop, never
     * inside {@link SignalWait#arm} while the engine is open. It must not block; it may arm the wait again, but not after an
     * error: a closed region has no other answer, and that of a closed engine comes inside the call.
     *
     * @param wait that was armed, and is not any more
     * @param value that was seen, at least the one waited for; the signal may be beyond it by now. 0 with an error
     * @param error {@code null}, or {@link RegionClosedException} if the region was closed first
     */
    void reached(SignalWait wait, long value, @Nullable SluiceException error);
}
