package io.sluice.reactor;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscriber's control operation.
 *
 * @param <T> the operation's result
 */
class FutureSubscription<T> extends SingleSubscription<T> {
    private final Supplier<? extends CompletionStage<? extends @Nullable T>> operation;

    FutureSubscription(
            CoreSubscriber<? super T> actual, Supplier<? extends CompletionStage<? extends @Nullable T>> operation) {
        super(actual);
        this.operation = operation;
    }

    @Override
    final void start() {
        CompletionStage<? extends @Nullable T> stage;
        try {
            stage = operation.get();
        } catch (Throwable thrown) {
            failOrDrop(Operators.onOperatorError(thrown, actual.currentContext()));
            return;
        }
        stage.whenComplete(this::arrived);
        started(stage);
    }

    /** Called when the operation is running or has already ended. */
    void started(CompletionStage<? extends @Nullable T> stage) {}

    /** Does nothing: the operation continues and its result is discarded. */
    @Override
    void abandon() {}

    /** A future swallows exceptions of its listeners, so a subscriber that violates the rules is reported here. */
    void arrived(@Nullable T value, @Nullable Throwable error) {
        try {
            ended(value, error);
        } catch (Throwable thrown) {
            Operators.onErrorDropped(thrown, actual.currentContext());
            throw thrown;
        }
    }

    void ended(@Nullable T value, @Nullable Throwable error) {
        if (error != null) {
            Throwable cause = error instanceof CompletionException ? error.getCause() : null;
            failOrDrop(cause == null ? error : cause);
        } else if (!succeed(value)) {
            Operators.onDiscard(value, actual.currentContext());
        }
    }

    private void failOrDrop(Throwable error) {
        if (!fail(error)) {
            unwanted(error);
        }
    }

    /** Called with an error that came after the cancel. */
    void unwanted(Throwable error) {
        Operators.onErrorDropped(error, actual.currentContext());
    }
}
