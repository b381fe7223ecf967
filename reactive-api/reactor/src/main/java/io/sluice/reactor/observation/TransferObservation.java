package io.sluice.reactor.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of this package, with their keys. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public enum TransferObservation implements ObservationDocumentation {
    /** A transfer, from its subscription to its end. */
    TRANSFER {
        @Override
        public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
            return DefaultTransferObservationConvention.class;
        }

        @Override
        public KeyName[] getLowCardinalityKeyNames() {
            return LowCardinalityKey.values();
        }

        @Override
        public KeyName[] getHighCardinalityKeyNames() {
            return HighCardinalityKey.values();
        }
    };

    /** Keys with few values, for meters and spans. */
    public enum LowCardinalityKey implements KeyName {
        /** The operation: {@code write}, {@code read}, and so on. */
        OPERATION("operation"),
        /** The transport. */
        TRANSPORT("transport"),
        /** The outcome: {@code success}, {@code error}, {@code timeout} or {@code cancelled}. */
        OUTCOME("outcome"),
        /** The {@link io.sluice.engine.ErrorKind} of the error, or {@code none}. */
        ERROR_KIND("error.kind");

        private final String key;

        LowCardinalityKey(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Keys with many values, for spans only. */
    public enum HighCardinalityKey implements KeyName {
        /** The peer engine's identity. */
        PEER("sluice.peer"),
        /** The number of bytes moved. */
        BYTES("sluice.bytes");

        private final String key;

        HighCardinalityKey(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }
}
