package io.sluice.reactor;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.Transfer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;

/** An atomic operation, submitted once for each subscriber when it asks for what the word held before. */
final class FetchMono extends Mono<Long> implements Scannable {
    private final String name;
    private final Function<? super FetchCallback, ? extends Transfer> operation;

    private FetchMono(String name, Function<? super FetchCallback, ? extends Transfer> operation) {
        this.name = name;
        this.operation = operation;
    }

    /**
     * For an operation.
     *
     * @param name what it is called
     * @param operation submits it with the callback that it is given
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
