package io.sluice.reactor;

import io.sluice.engine.SluiceException;
import io.sluice.experts.ExpertCallback;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A call on an expert buffer. It is the callback itself.
 *
 * @param <R> the type of its result
 */
final class ExpertFuture<R> extends CompletableFuture<R> implements ExpertCallback<R> {
    /** Makes a call. If it throws, nothing was called. */
    static <R> CompletableFuture<R> of(Consumer<ExpertCallback<R>> call) {
        ExpertFuture<R> future = new ExpertFuture<>();
        call.accept(future);
        return future;
    }

    @Override
    public void ended(@Nullable R result, @Nullable SluiceException error) {
        if (error == null) {
            complete(Objects.requireNonNull(result));
        } else {
            completeExceptionally(error);
        }
    }
}
