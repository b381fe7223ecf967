package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import reactor.core.observability.DefaultSignalListener;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The observation of one subscriber.
 *
 * @param <T> what the subscriber receives
 */
final class ObservedSignals<T> extends DefaultSignalListener<T> {
    private final ObservedWork work;
    private final Observation observation;

    ObservedSignals(ContextView subscriber, ObservedWork work, Observation observation) {
        this.work = work;
        this.observation = observation;
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
        work.emitted(value);
    }

    @Override
    public void doOnComplete() {
        end(TransferOutcome.SUCCESS);
    }

    @Override
    public void doOnError(Throwable error) {
        observation.error(error);
        end(work.outcomeOf(error));
    }

    @Override
    public void doOnCancel() {
        end(TransferOutcome.CANCELLED);
    }

    private void end(TransferOutcome outcome) {
        if (work.end(outcome)) {
            observation.stop();
        }
    }
}
