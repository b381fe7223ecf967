package io.sluice.reactor;

import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;

/**
 * A control operation of the engine, started anew for each subscriber when it asks for the result. A cancel does not
 * cancel the future, which others may share; the value that nobody takes goes to the discard hook.
 *
 * @param <T> what the operation gives
 */
final class FutureMono<T> extends Mono<T> implements Scannable {
    private final String name;
    private final Supplier<? extends CompletionStage<? extends @Nullable T>> operation;

    private FutureMono(String name, Supplier<? extends CompletionStage<? extends @Nullable T>> operation) {
        this.name = name;
        this.operation = operation;
    }

    static <T> Mono<T> of(String name, Supplier<? extends CompletionStage<? extends @Nullable T>> operation) {
        return from(onAssembly(new FutureMono<>(name, operation)));
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        actual.onSubscribe(new FutureSubscription<>(actual, operation));
    }

    @Override
    @SuppressWarnings("rawtypes")
    public @Nullable Object scanUnsafe(Attr key) {
        return key.equals(Attr.RUN_STYLE) ? Attr.RunStyle.ASYNC : null;
    }

    @Override
    public String stepName() {
        return name;
    }
}
