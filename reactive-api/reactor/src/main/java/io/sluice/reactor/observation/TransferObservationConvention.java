package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Gives observed transfers their names and keys. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public interface TransferObservationConvention extends ObservationConvention<TransferContext> {
    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof TransferContext;
    }
}
