package io.sluice.reactor;

import io.sluice.engine.TooManyPendingException;
import io.sluice.experts.ExpertCallback;
import io.sluice.experts.ReceiveHook;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The second half of a call of {@link ReactiveExpertBuffer}, or of one in memory of GPUs, whose sends are posted. No thread
 * works for the call until its Mono is subscribed to. May be used from any thread.
 *
 * @param <R> the type of the call's result
 */
public final class ReactiveReceiveHook<R> {
    private static final long AGAIN_MILLIS = 1;

    private final ReceiveHook<R> hook;
    private final Consumer<? super R> giveBack;
    private final AbandonedCalls abandoned;
    private final AtomicBoolean used = new AtomicBoolean();
    private final CompletableFuture<Void> abandonedEnd = new CompletableFuture<>();
    private final Mono<R> arrival;

    /**
     * Creates it.
     *
     * @param giveBack takes a result that has no taker
     * @param called makes the Mono of a call
     */
    ReactiveReceiveHook(
            ReceiveHook<R> hook,
            Consumer<? super R> giveBack,
            AbandonedCalls abandoned,
            Function<Consumer<ExpertCallback<R>>, Mono<R>> called) {
        this.hook = hook;
        this.giveBack = giveBack;
        this.abandoned = abandoned;
        this.arrival = called.apply(this::receive);
    }

    private void receive(ExpertCallback<R> end) {
        // the engine uses its object again, for another call
        if (!used.compareAndSet(false, true)) {
            throw new IllegalStateException("the call was completed before");
        }
        try {
            hook.complete(end);
        } catch (TooManyPendingException full) {
            // of a GPU: nothing was started
            used.set(false);
            throw full;
        }
    }

    /**
     * Receives, at the subscription's request. To be subscribed to once: until then later calls of the other ranks may wait
     * for this one. For cancel and threads see {@link ReactiveExpertBuffer}.
     *
     * @return the result of the call; {@link IllegalStateException} for a second subscriber
     */
    public Mono<R> complete() {
        return arrival;
    }

    /**
     * Receives for no subscriber, so that the other ranks do not wait. For a hook that none got; may be called again.
     *
     * @return completes, without an error, when that has ended
     */
    CompletableFuture<Void> abandon() {
        if (used.compareAndSet(false, true)) {
            receive(abandoned.add());
        }
        return abandonedEnd;
    }

    private void receive(CompletableFuture<Void> end) {
        try {
            hook.complete((result, error) -> {
                if (result != null) {
                    giveBack.accept(result);
                }
                ended(end);
            });
        } catch (TooManyPendingException full) {
            // of a GPU: nothing was started, and there is room when works before it have ended
            Schedulers.parallel().schedule(() -> receive(end), AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RuntimeException over) {
            // the buffer has failed meanwhile, and the call with it
            ended(end);
        }
    }

    private void ended(CompletableFuture<Void> end) {
        abandoned.ended(end);
        abandonedEnd.complete(null);
    }
}
