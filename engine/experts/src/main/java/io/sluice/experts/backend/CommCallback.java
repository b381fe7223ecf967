package io.sluice.experts.backend;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** Receives the end of an operation, on the thread of the team's loop. It must not block. */
@FunctionalInterface
public interface CommCallback {
    /**
     * Called exactly once for each operation that was started. It may be called inside the call that starts it.
     *
     * @param error {@code null} for success
     */
    void ended(@Nullable SluiceException error);
}
