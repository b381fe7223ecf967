package io.sluice.reactor.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of calls on expert buffers, with their keys. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public enum ExpertObservation implements ObservationDocumentation {
    /** A call on one rank, or a half of one with a hook, from its subscription to its end. */
    EXPERT_CALL {
        @Override
        public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
            return DefaultExpertObservationConvention.class;
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
        /** The kind: {@code dispatch}, {@code low-latency-combine}, and so on. */
        KIND("kind"),
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
        RANK("sluice.rank");

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
