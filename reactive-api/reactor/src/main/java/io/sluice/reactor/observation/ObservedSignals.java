package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.sluice.engine.TransferResult;
import io.sluice.reactor.observation.ObservedTransfers.Observed;
import reactor.core.observability.DefaultSignalListener;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The observation of one subscriber.
 *
 * @param <T> what the subscriber receives
 */
final class ObservedSignals<T> extends DefaultSignalListener<T> {
    private final TransferContext context;
    private final Observation observation;

    ObservedSignals(ContextView subscriber, Observed observed) {
        this.context = observed.context();
        this.observation = observed.observation();
        Observation parent = subscriber.getOrDefault(ObservationThreadLocalAccessor.KEY, null);
        if (parent != null) {
            observation.parentObservation(parent);
        }
    }

    @Override
    public void doFirst() {
        observation.start();
        // code that reads the span's identity does so in its scope; the transfer continues on other threads
        observation.openScope().close();
    }

    @Override
    public Context addToContext(Context subscriber) {
        return subscriber.put(ObservationThreadLocalAccessor.KEY, observation);
    }

    @Override
    public void doOnNext(T value) {
        if (value instanceof TransferResult result && result.error() == null) {
            context.moved(result.bytes());
        }
    }

    @Override
    public void doOnComplete() {
        end(TransferOutcome.SUCCESS);
    }

    @Override
    public void doOnError(Throwable error) {
        observation.error(error);
        end(TransferOutcome.of(error));
    }

    @Override
    public void doOnCancel() {
        end(TransferOutcome.CANCELLED);
    }

    private void end(TransferOutcome outcome) {
        if (context.end(outcome)) {
            observation.stop();
        }
    }
}
