package io.sluice.reactor;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;

/**
 * A collective that is called for each subscriber when it requests the result.
 *
 * @param <C> the type of the engine's collective
 */
final class CollectiveMono<C extends Collective> extends Mono<C> implements Scannable {
    private final String name;
    private final Function<CollectiveCallback, C> call;
    private final AbandonedCalls abandoned;

    CollectiveMono(String name, Function<CollectiveCallback, C> call, AbandonedCalls abandoned) {
        this.name = name;
        this.call = call;
        this.abandoned = abandoned;
    }

    /** Applies the assembly hooks and, where it is enabled, automatic context propagation. */
    Mono<C> assembled() {
        return from(onAssembly(this));
    }

    @Override
    public void subscribe(CoreSubscriber<? super C> actual) {
        actual.onSubscribe(new CollectiveSubscription<>(actual, call, abandoned));
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
