package io.sluice.experts;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the terminal signal of a call, on the thread of the team's loop. It must not block.
 *
 * @param <R> the type of the result
 */
@FunctionalInterface
public interface ExpertCallback<R> {
    /**
     * Called exactly once for each call. Nothing touches the call's inputs any more.
     *
     * @param result {@code null} after an error
     * @param error {@code null} for success; {@link ExpertsLostException} if a rank is lost or has left, {@link
     *     io.sluice.collectives.CollectiveTimeoutException} if the call has exceeded its time, {@link
     *     ExpertBufferClosedException} if the buffer is closed here, or another error of the team or the engine. After
     *     an error the content of targets is undefined, and the buffer takes no further calls
     */
    void ended(@Nullable R result, @Nullable SluiceException error);
}
