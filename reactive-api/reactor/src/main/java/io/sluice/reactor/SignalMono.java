package io.sluice.reactor;

import io.sluice.engine.Signal;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;

/** A wait for a counter that begins for each subscriber when it requests the value, and that its cancel ends. */
final class SignalMono extends Mono<Long> implements Scannable {
    private final Signal signal;
    private final long least;

    private SignalMono(Signal signal, long least) {
        this.signal = Objects.requireNonNull(signal, "signal");
        this.least = least;
    }

    static Mono<Long> of(Signal signal, long least) {
        return from(onAssembly(new SignalMono(signal, least)));
    }

    @Override
    public void subscribe(CoreSubscriber<? super Long> actual) {
        actual.onSubscribe(new WaitSubscription<>(actual, () -> signal.awaitAtLeast(least)));
    }

    @Override
    @SuppressWarnings("rawtypes")
    public @Nullable Object scanUnsafe(Attr key) {
        return key.equals(Attr.RUN_STYLE) ? Attr.RunStyle.ASYNC : null;
    }

    @Override
    public String stepName() {
        return "awaitAtLeast";
    }
}
