package io.sluice.reactor.observation;

import io.micrometer.common.KeyValues;
import io.sluice.reactor.observation.ExpertObservation.HighCardinalityKey;
import io.sluice.reactor.observation.ExpertObservation.LowCardinalityKey;

/** The names and keys of {@link ExpertObservation}. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public class DefaultExpertObservationConvention implements ExpertObservationConvention {
    static final DefaultExpertObservationConvention INSTANCE = new DefaultExpertObservationConvention();

    private static final String NAME = "sluice.expert.call";

    /** Creates the convention, which has no state. */
    public DefaultExpertObservationConvention() {}

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public String getContextualName(ExpertContext context) {
        return context.kind().toString();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(ExpertContext context) {
        return KeyValues.of(
                LowCardinalityKey.TEAM.withValue(context.buffer().metrics().team()),
                LowCardinalityKey.KIND.withValue(context.kind().toString()),
                LowCardinalityKey.OUTCOME.withValue(context.outcome().toString()),
                LowCardinalityKey.ERROR_KIND.withValue(DefaultTransferObservationConvention.kind(context.getError())));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(ExpertContext context) {
        return KeyValues.of(HighCardinalityKey.RANK.withValue(
                Integer.toString(context.buffer().rank())));
    }
}
