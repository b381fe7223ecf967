package io.sluice.reactor.observation;

import io.micrometer.common.KeyValues;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.SluiceException;
import io.sluice.reactor.observation.TransferObservation.HighCardinalityKey;
import io.sluice.reactor.observation.TransferObservation.LowCardinalityKey;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The names and keys of {@link TransferObservation}. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public class DefaultTransferObservationConvention implements TransferObservationConvention {
    static final DefaultTransferObservationConvention INSTANCE = new DefaultTransferObservationConvention();

    private static final String NAME = "sluice.transfer";
    private static final String NO_ERROR = "none";

    /** Creates the convention, which has no state. */
    public DefaultTransferObservationConvention() {}

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public String getContextualName(TransferContext context) {
        return lower(context.operation());
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(TransferContext context) {
        return KeyValues.of(
                LowCardinalityKey.OPERATION.withValue(lower(context.operation())),
                LowCardinalityKey.TRANSPORT.withValue(context.transport()),
                LowCardinalityKey.OUTCOME.withValue(context.outcome().toString()),
                LowCardinalityKey.ERROR_KIND.withValue(kind(context.getError())));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(TransferContext context) {
        return KeyValues.of(
                HighCardinalityKey.PEER.withValue(context.peer().toString()),
                HighCardinalityKey.BYTES.withValue(Long.toString(context.bytes())));
    }

    static String kind(@Nullable Throwable error) {
        if (error == null) {
            return NO_ERROR;
        }
        return lower(error instanceof SluiceException known ? ErrorKind.of(known) : ErrorKind.OTHER);
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
