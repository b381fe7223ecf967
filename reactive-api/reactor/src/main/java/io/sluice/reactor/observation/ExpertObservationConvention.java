package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Gives observed calls on expert buffers their names and keys. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public interface ExpertObservationConvention extends ObservationConvention<ExpertContext> {
    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof ExpertContext;
    }
}
