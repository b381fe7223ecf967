package io.sluice.reactor;

import java.util.concurrent.CompletableFuture;
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
    private final @Nullable AbandonedCalls abandoned;

    private volatile boolean over;
    private volatile @Nullable CompletableFuture<Void> left;

    /** The second half of a call whose first one ended after the cancel; written before {@link #over}. */
    private @Nullable CompletionStage<?> rest;

    /**
     * Creates it, for an operation that is not started yet.
     *
     * @param abandoned gets the operation if it goes on after a cancel; {@code null} if that does not matter
     */
    FutureSubscription(
            CoreSubscriber<? super T> actual,
            Supplier<? extends CompletionStage<? extends @Nullable T>> operation,
            @Nullable AbandonedCalls abandoned) {
        super(actual);
        this.operation = operation;
        this.abandoned = abandoned;
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
    void started(CompletionStage<? extends @Nullable T> stage) {
        if (abandoned != null && !running()) {
            abandon();
        }
    }

    /**
     * The operation continues and its result is discarded. The end may come meanwhile: whichever of both is later sees the
     * other.
     */
    @Override
    void abandon() {
        if (abandoned != null) {
            CompletableFuture<Void> end = abandoned.add();
            left = end;
            if (over) {
                leave(abandoned, end);
            }
        }
    }

    private void leave(AbandonedCalls all, CompletableFuture<Void> end) {
        CompletionStage<?> last = rest;
        if (last == null) {
            all.ended(end);
        } else {
            last.whenComplete((nothing, error) -> all.ended(end));
        }
    }

    /** A future swallows exceptions of its listeners, so a subscriber that violates the rules is reported here. */
    void arrived(@Nullable T value, @Nullable Throwable error) {
        try {
            ended(value, error);
        } catch (Throwable thrown) {
            Operators.onErrorDropped(thrown, actual.currentContext());
            throw thrown;
        } finally {
            over = true;
            CompletableFuture<Void> end = left;
            if (abandoned != null && end != null) {
                leave(abandoned, end);
            }
        }
    }

    void ended(@Nullable T value, @Nullable Throwable error) {
        if (error != null) {
            Throwable cause = error instanceof CompletionException ? error.getCause() : null;
            failOrDrop(cause == null ? error : cause);
        } else if (!succeed(value)) {
            Operators.onDiscard(value, actual.currentContext());
            if (value instanceof ReactiveReceiveHook<?> half) {
                rest = half.abandon();
            }
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
