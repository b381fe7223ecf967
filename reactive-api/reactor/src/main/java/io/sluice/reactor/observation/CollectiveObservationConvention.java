package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Gives observed collectives their names and keys. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public interface CollectiveObservationConvention extends ObservationConvention<CollectiveContext> {
    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof CollectiveContext;
    }
}
