package io.sluice.reactor;

import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A control operation of the engine that is started for each subscriber when it requests the result. A cancel does not
 * cancel the future, which others may share; a value that arrives later goes to the discard hook.
 *
 * @param <T> the operation's result
 */
final class FutureMono<T> extends Mono<T> implements Scannable {
    private final String name;
    private final Supplier<? extends CompletionStage<? extends @Nullable T>> operation;
    private final boolean resource;
    private final @Nullable Scheduler scheduler;

    private FutureMono(
            String name,
            Supplier<? extends CompletionStage<? extends @Nullable T>> operation,
            boolean resource,
            @Nullable Scheduler scheduler) {
        this.name = name;
        this.operation = operation;
        this.resource = resource;
        this.scheduler = scheduler;
    }

    static <T> Mono<T> of(String name, Supplier<? extends CompletionStage<? extends @Nullable T>> operation) {
        return from(onAssembly(new FutureMono<>(name, operation, false, null)));
    }

    /**
     * Creates one for a value that must be released if no subscriber takes it: the value also goes to the discard hook
     * if a cancel arrives while it is handed over.
     *
     * @param name the operation's name
     * @param operation starts the operation
     * @param scheduler signals the result, or {@code null} for the thread that completes the operation
     */
    static <T> Mono<T> ofResource(
            String name,
            Supplier<? extends CompletionStage<? extends @Nullable T>> operation,
            @Nullable Scheduler scheduler) {
        return from(onAssembly(new FutureMono<>(name, operation, true, scheduler)));
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        actual.onSubscribe(
                resource
                        ? new ResourceSubscription<>(actual, operation, scheduler)
                        : new FutureSubscription<>(actual, operation));
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
