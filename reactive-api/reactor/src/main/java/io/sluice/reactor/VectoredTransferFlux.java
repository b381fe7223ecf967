package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import io.sluice.engine.VectoredTransferCallback;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxOperator;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Scheduler.Worker;

/** The results of many elements, in the order in which they end. */
final class VectoredTransferFlux extends FluxOperator<TransferElement, TransferResult> {
    private final Route route;
    private final Direction direction;
    private final @Nullable List<TransferElement> listed;
    private final TransferOptions options;
    private final @Nullable Scheduler scheduler;

    private VectoredTransferFlux(
            Route route,
            Direction direction,
            Flux<TransferElement> source,
            @Nullable List<TransferElement> listed,
            TransferOptions options,
            @Nullable Scheduler scheduler) {
        super(source);
        this.route = route;
        this.direction = direction;
        this.listed = listed;
        this.options = options;
        this.scheduler = scheduler;
    }

    static Flux<TransferResult> of(
            Route route,
            Direction direction,
            Publisher<TransferElement> source,
            TransferOptions options,
            @Nullable Scheduler scheduler) {
        Flux<TransferElement> publisher = Flux.from(Objects.requireNonNull(source, "elements"));
        return assembled(new VectoredTransferFlux(route, direction, publisher, null, options, scheduler));
    }

    static Flux<TransferResult> of(
            Route route,
            Direction direction,
            List<TransferElement> source,
            TransferOptions options,
            @Nullable Scheduler scheduler) {
        List<TransferElement> copy = List.copyOf(source);
        return assembled(new VectoredTransferFlux(route, direction, Flux.fromIterable(copy), copy, options, scheduler));
    }

    private static Flux<TransferResult> assembled(VectoredTransferFlux flux) {
        return from(onAssembly(flux));
    }

    @Override
    public void subscribe(CoreSubscriber<? super TransferResult> actual) {
        Worker worker;
        try {
            worker = scheduler == null ? null : scheduler.createWorker();
        } catch (Throwable thrown) {
            Operators.error(actual, Operators.onOperatorError(thrown, actual.currentContext()));
            return;
        }
        List<TransferElement> all = listed;
        // Each element completes an event, so each must be a transfer of its own.
        if (all == null || options.completeInto() != null) {
            source.subscribe(new PublishedElementsRelay(actual, this, getPrefetch(), worker));
        } else {
            new ListedElementsRelay(actual, this, all, getPrefetch(), worker).start();
        }
    }

    Connection connection(TransferElement element) {
        return route.connection(element);
    }

    /** Submits elements of one connection as one transfer. */
    Transfer submit(List<TransferElement> elements, VectoredTransferCallback callback) {
        return direction.submit(route.connection(elements.getFirst()), elements, options, callback);
    }

    Transfer submit(TransferElement element, TransferCallback callback) {
        return direction.submit(
                route.connection(element),
                element.local(),
                element.localOffset(),
                element.remote(),
                element.remoteOffset(),
                element.length(),
                options,
                callback);
    }

    /** Returns how many elements may be in flight or have a result that was not emitted. */
    @Override
    public int getPrefetch() {
        int limit = route.operationLimit();
        return Math.max(1, listed == null ? limit : Math.min(limit, listed.size()));
    }

    @Override
    @SuppressWarnings("rawtypes")
    public @Nullable Object scanUnsafe(Attr key) {
        return key.equals(Attr.RUN_STYLE) ? Attr.RunStyle.ASYNC : super.scanUnsafe(key);
    }

    @Override
    public String stepName() {
        return direction == Direction.WRITE ? "writeVectored" : "readVectored";
    }
}
