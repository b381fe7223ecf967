package io.sluice.reactor;

import io.sluice.engine.StartEvent;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/** Reports the first signal of a publisher to a transfer. */
final class StartEventSubscriber implements CoreSubscriber<Object> {
    private final StartEvent.Listener listener;
    private @Nullable Subscription upstream;
    private boolean told;

    StartEventSubscriber(StartEvent.Listener listener) {
        this.listener = listener;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        if (Operators.validate(upstream, subscription)) {
            upstream = subscription;
            subscription.request(1);
        }
    }

    @Override
    public void onNext(Object item) {
        Subscription publisher = upstream;
        if (told || publisher == null) {
            Operators.onNextDropped(item, currentContext());
            return;
        }
        told = true;
        publisher.cancel();
        listener.happened(null);
    }

    @Override
    public void onError(Throwable error) {
        if (told) {
            Operators.onErrorDropped(error, currentContext());
            return;
        }
        told = true;
        listener.happened(error);
    }

    @Override
    public void onComplete() {
        if (!told) {
            told = true;
            listener.happened(null);
        }
    }
}
