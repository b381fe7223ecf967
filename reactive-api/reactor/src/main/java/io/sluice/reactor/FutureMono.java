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
    private final @Nullable AbandonedCalls abandoned;
    private final @Nullable Scheduler scheduler;

    private FutureMono(
            String name,
            Supplier<? extends CompletionStage<? extends @Nullable T>> operation,
            boolean resource,
            @Nullable AbandonedCalls abandoned,
            @Nullable Scheduler scheduler) {
        this.name = name;
        this.operation = operation;
        this.resource = resource;
        this.abandoned = abandoned;
        this.scheduler = scheduler;
    }

    static <T> Mono<T> of(String name, Supplier<? extends CompletionStage<? extends @Nullable T>> operation) {
        return from(onAssembly(new FutureMono<>(name, operation, false, null, null)));
    }

    /** Creates one for an operation that uses memory of its caller until it has ended, also after a cancel. */
    static <T> Mono<T> ofCall(
            String name,
            Supplier<? extends CompletionStage<? extends @Nullable T>> operation,
            AbandonedCalls abandoned) {
        return from(onAssembly(new FutureMono<>(name, operation, false, abandoned, null)));
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
        return from(onAssembly(new FutureMono<>(name, operation, true, null, scheduler)));
    }

    /** Creates one for an operation as {@link #ofCall} takes, with a value as {@link #ofResource} takes. */
    static <T> Mono<T> ofResourceCall(
            String name,
            Supplier<? extends CompletionStage<? extends @Nullable T>> operation,
            AbandonedCalls abandoned,
            @Nullable Scheduler scheduler) {
        return from(onAssembly(new FutureMono<>(name, operation, true, abandoned, scheduler)));
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        actual.onSubscribe(
                resource
                        ? new ResourceSubscription<>(actual, operation, abandoned, scheduler)
                        : new FutureSubscription<>(actual, operation, abandoned));
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
