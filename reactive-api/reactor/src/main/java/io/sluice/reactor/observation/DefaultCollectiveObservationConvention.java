package io.sluice.reactor.observation;

import io.micrometer.common.KeyValues;
import io.sluice.reactor.observation.CollectiveObservation.HighCardinalityKey;
import io.sluice.reactor.observation.CollectiveObservation.LowCardinalityKey;

/** The names and keys of {@link CollectiveObservation}. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public class DefaultCollectiveObservationConvention implements CollectiveObservationConvention {
    static final DefaultCollectiveObservationConvention INSTANCE = new DefaultCollectiveObservationConvention();

    private static final String NAME = "sluice.collective";

    /** Creates the convention, which has no state. */
    public DefaultCollectiveObservationConvention() {}

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public String getContextualName(CollectiveContext context) {
        return context.kind().toString();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(CollectiveContext context) {
        return KeyValues.of(
                LowCardinalityKey.TEAM.withValue(context.team().name()),
                LowCardinalityKey.KIND.withValue(context.kind().toString()),
                LowCardinalityKey.ALGORITHM.withValue(context.algorithm().toString()),
                LowCardinalityKey.OUTCOME.withValue(context.outcome().toString()),
                LowCardinalityKey.ERROR_KIND.withValue(DefaultTransferObservationConvention.kind(context.getError())));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(CollectiveContext context) {
        return KeyValues.of(
                HighCardinalityKey.RANK.withValue(
                        Integer.toString(context.team().rank())),
                HighCardinalityKey.BYTES.withValue(Long.toString(context.bytes())));
    }
}
