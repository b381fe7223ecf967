package io.sluice.reactor.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of collectives, with their keys. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public enum CollectiveObservation implements ObservationDocumentation {
    /** A collective on one rank, from its subscription to its end. */
    COLLECTIVE {
        @Override
        public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
            return DefaultCollectiveObservationConvention.class;
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
        /** The team's name. */
        TEAM("team"),
        /** The kind: {@code all-reduce}, {@code broadcast}, and so on. */
        KIND("kind"),
        /** The algorithm, or {@code auto} if it has not ended with success. */
        ALGORITHM("algorithm"),
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
        /** This rank. */
        RANK("sluice.rank"),
        /** The number of bytes received from other ranks. */
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
