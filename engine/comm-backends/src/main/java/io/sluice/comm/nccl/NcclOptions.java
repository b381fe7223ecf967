package io.sluice.comm.nccl;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Environment;
import io.sluice.engine.transport.TransportOptions;
import java.util.Map;

/** Settings of the transport {@code nccl}, for {@link EngineOptions.Builder#transport}. Immutable. */
public final class NcclOptions implements TransportOptions {
    static final String VARIABLES = "SLUICE_NCCL_";

    private final int gpu;

    private NcclOptions(Builder settings) {
        this.gpu = settings.gpu;
    }

    /**
     * A builder that holds the defaults.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Those given to the engine, or those of its variables. */
    static NcclOptions of(EngineOptions options) {
        NcclOptions given = options.transport(NcclOptions.class);
        return given != null
                ? given
                : builder().environment(options.variables(VARIABLES)).build();
    }

    int gpu() {
        return gpu;
    }

    /** Collects settings. Not for several threads at once. */
    public static final class Builder {
        private int gpu;

        private Builder() {}

        /**
         * The GPU whose memory the engine carries by NCCL, which gives each rank one. Default 0; {@code SLUICE_NCCL_GPU}.
         *
         * @param ordinal the number that this process has for it, from 0 on
         * @return this
         */
        public Builder gpu(int ordinal) {
            if (ordinal < 0) {
                throw new IllegalArgumentException("GPUs are numbered from 0 on; " + ordinal + " is none");
            }
            this.gpu = ordinal;
            return this;
        }

        /**
         * Overrides settings by those variables that are set.
         *
         * @param variables by name
         * @return this
         * @throws IllegalArgumentException if one has an unusable value; the message names it
         */
        public Builder environment(Map<String, String> variables) {
            if (!variables.isEmpty()) {
                new Environment(variables).number(VARIABLES + "GPU", this::gpu);
            }
            return this;
        }

        /**
         * Makes the options.
         *
         * @return what was set
         */
        public NcclOptions build() {
            return new NcclOptions(this);
        }
    }
}
