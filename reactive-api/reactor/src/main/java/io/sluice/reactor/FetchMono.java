package io.sluice.reactor;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.Transfer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;

/** An atomic operation that is submitted for each subscriber when it requests the previous value. */
final class FetchMono extends Mono<Long> implements Scannable {
    private final String name;
    private final Function<? super FetchCallback, ? extends Transfer> operation;

    private FetchMono(String name, Function<? super FetchCallback, ? extends Transfer> operation) {
        this.name = name;
        this.operation = operation;
    }

    /**
     * Creates one for an operation.
     *
     * @param name the operation's name
     * @param operation submits the operation with the given callback
     */
    static Mono<Long> of(String name, Function<? super FetchCallback, ? extends Transfer> operation) {
        return from(onAssembly(new FetchMono(name, operation)));
    }

    @Override
    public void subscribe(CoreSubscriber<? super Long> actual) {
        actual.onSubscribe(new FetchSubscription(actual, operation));
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
