package io.sluice.cuda;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.Environment;
import io.sluice.engine.transport.TransportOptions;
import java.util.Map;

/**
 * Settings of the transport for memory of GPUs, for {@link EngineOptions.Builder#transport}. Immutable. Each method of {@link Builder}
 * documents its default and its variable.
 */
public final class CudaOptions implements TransportOptions {
    static final String VARIABLES = "SLUICE_CUDA_";
    private static final int MOST_BLOCKS = 1 << 16;

    private final int blocks;
    private final boolean copyEngines;

    private CudaOptions(Builder settings) {
        this.blocks = settings.blocks;
        this.copyEngines = settings.copyEngines;
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
    static CudaOptions of(EngineOptions options) {
        CudaOptions given = options.transport(CudaOptions.class);
        return given != null
                ? given
                : builder().environment(options.variables(VARIABLES)).build();
    }

    int blocks() {
        return blocks;
    }

    boolean copyEngines() {
        return copyEngines;
    }

    /** Collects settings. Not for several threads at once. */
    public static final class Builder {
        private int blocks = 528;
        private boolean copyEngines;

        private Builder() {}

        /**
         * How many blocks of 512 threads a kernel that copies may have: fewer leave more of the GPU to others, and copy more slowly.
         * Default 528; {@code SLUICE_CUDA_BLOCKS}.
         *
         * @param most 1 to 65,536
         * @return this
         */
        public Builder blocks(int most) {
            if (most < 1 || most > MOST_BLOCKS) {
                throw new IllegalArgumentException("a kernel has 1 to " + MOST_BLOCKS + " blocks, not " + most);
            }
            this.blocks = most;
            return this;
        }

        /**
         * Whether copy engines carry out all that they can, page lists too: kernels wait while the GPU is busy with others, and copy
         * engines do not. Scattered pages take many times as long. Default false; {@code SLUICE_CUDA_COPY_ENGINES}.
         *
         * @param on true for no kernels
         * @return this
         */
        public Builder copyEngines(boolean on) {
            this.copyEngines = on;
            return this;
        }

        /**
         * Overrides settings by those variables that are set.
         *
         * @param variables by name
         * @return this
         * @throws IllegalArgumentException if one says nothing that makes sense; the message names it
         */
        public Builder environment(Map<String, String> variables) {
            if (variables.isEmpty()) {
                return this;
            }
            Environment environment = new Environment(variables);
            environment.number(VARIABLES + "BLOCKS", this::blocks);
            environment.flag(VARIABLES + "COPY_ENGINES", this::copyEngines);
            return this;
        }

        /**
         * Makes the options.
         *
         * @return what was set
         */
        public CudaOptions build() {
            return new CudaOptions(this);
        }
    }
}
