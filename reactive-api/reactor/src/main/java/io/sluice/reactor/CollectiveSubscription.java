package io.sluice.reactor;

import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.engine.SluiceException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscriber's collective, which is called once and cannot be stopped. It is the engine's callback itself, so that a
 * start costs one object here.
 *
 * @param <C> the type of the engine's collective
 */
final class CollectiveSubscription<C extends Collective> extends SingleSubscription<C> implements CollectiveCallback {
    private final Function<CollectiveCallback, C> call;
    private final AbandonedCalls abandoned;
    private volatile boolean over;
    private volatile @Nullable CompletableFuture<Void> left;

    CollectiveSubscription(
            CoreSubscriber<? super C> actual, Function<CollectiveCallback, C> call, AbandonedCalls abandoned) {
        super(actual);
        this.call = call;
        this.abandoned = abandoned;
    }

    @Override
    void start() {
        try {
            C ignored = call.apply(this);
        } catch (Throwable thrown) {
            Throwable error = Operators.onOperatorError(thrown, actual.currentContext());
            if (!fail(error)) {
                Operators.onErrorDropped(error, actual.currentContext());
            }
            return;
        }
        if (!running()) {
            abandon();
        }
    }

    /** The end may come meanwhile: whichever of both is later sees the other. */
    @Override
    void abandon() {
        CompletableFuture<Void> end = abandoned.add();
        left = end;
        if (over) {
            abandoned.ended(end);
        }
    }

    @Override
    @SuppressWarnings("unchecked") // the collective is the one that the call returned
    public void ended(Collective collective, @Nullable SluiceException error) {
        over = true;
        CompletableFuture<Void> end = left;
        if (end != null) {
            abandoned.ended(end);
        }
        if (error == null) {
            succeed((C) collective);
        } else if (!fail(error)) {
            Operators.onErrorDropped(error, actual.currentContext());
        }
    }
}
