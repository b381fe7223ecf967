package io.sluice.reactor;

import io.sluice.engine.EngineAddress;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * Monos of what has to be given back if it has no taker: handles, leases, publications. The rule is that of
 * {@link ReactiveTransferEngine#connect(EngineAddress)}: what comes after a cancel or is dropped by a {@code timeout} is given
 * back; {@code next} and {@code take}, which cancel as they take, keep it.
 */
public final class ResourceMono {
    private ResourceMono() {}

    /**
     * A Mono that starts an operation for each subscriber, when it asks for the result.
     *
     * @param <T> what the operation gives
     * @param name what it is called in assembly traces
     * @param type of what it gives
     * @param operation starts it, on the thread that asks. A cancel does not cancel the stage; an error that comes after it goes
     *     to Reactor's hook for dropped errors
     * @param giveBack takes what has no taker, once, on the thread that finds it out; must not block
     * @return what the operation gives, on the thread that completes it, or its error
     */
    public static <T> Mono<T> of(
            String name,
            Class<T> type,
            Supplier<? extends CompletionStage<? extends T>> operation,
            Consumer<? super T> giveBack) {
        Objects.requireNonNull(giveBack, "giveBack");
        return FutureMono.<T>ofResource(name, Objects.requireNonNull(operation, "operation"), null)
                .doOnDiscard(type, giveBack);
    }
}
