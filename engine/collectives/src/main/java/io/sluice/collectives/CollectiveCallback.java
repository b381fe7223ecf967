package io.sluice.collectives;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** Receives the terminal signal of a collective, on the thread of the team's loop. It must not block. */
@FunctionalInterface
public interface CollectiveCallback {
    /**
     * Called exactly once for each call or start. Nothing touches the buffers any more. After an error the content of
     * the target is undefined.
     *
     * @param collective the collective
     * @param error {@code null} for success; {@link RankFailedException}, {@link CollectiveMismatchException}, {@link
     *     CollectiveTimeoutException}, {@link TeamRevokedException}, {@link TeamClosedException}, or another error of
     *     the engine
     */
    void ended(Collective collective, @Nullable SluiceException error);
}
