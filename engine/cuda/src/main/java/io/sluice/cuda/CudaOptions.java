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
    private static final long SMALLEST_RING = 64 << 10;
    private static final long LARGEST_RING = 1 << 30;
    private static final long SMALLEST_CHUNK = 4096;

    private final int blocks;
    private final boolean copyEngines;
    private final boolean mapped;
    private final long stagingBytes;
    private final long stagedChunk;

    private CudaOptions(Builder settings) {
        this.blocks = settings.blocks;
        this.copyEngines = settings.copyEngines;
        this.mapped = settings.mapped;
        this.stagingBytes = settings.stagingBytes;
        this.stagedChunk = settings.stagedChunk;
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

    boolean mapped() {
        return mapped;
    }

    long stagingBytes() {
        return stagingBytes;
    }

    long stagedChunk() {
        return stagedChunk;
    }

    /** Collects settings. Not for several threads at once. */
    public static final class Builder {
        private int blocks = 528;
        private boolean copyEngines;
        private boolean mapped = true;
        private long stagingBytes = 4 << 20;
        private long stagedChunk = 8 << 20;

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
         * engines do not. Scattered pages take many times as long, and a copy that waits for an event holds up others. Default false; {@code SLUICE_CUDA_COPY_ENGINES}.
         *
         * @param on true for no kernels
         * @return this
         */
        public Builder copyEngines(boolean on) {
            this.copyEngines = on;
            return this;
        }

        /**
         * Whether processes of one host map each other's memory of GPUs. If not, or if one of two engines has it off, the bytes are
         * staged: they go through pinned memory and the sockets of tcp, as between hosts. Default true; {@code SLUICE_CUDA_MAPPED}.
         *
         * @param on false to keep other processes from mapping memory
         * @return this
         */
        public Builder mapped(boolean on) {
            this.mapped = on;
            return this;
        }

        /**
         * The size of a ring of pinned memory, in bytes. A lane of tcp that carries memory of GPUs has one for each direction in which
         * it does; a GPU fills a piece of it, an eighth, while others are sent. Default 4 MiB; {@code SLUICE_CUDA_STAGING_BYTES}.
         *
         * @param bytes 64 KiB to 1 GiB
         * @return this
         */
        public Builder stagingBytes(long bytes) {
            if (bytes < SMALLEST_RING || bytes > LARGEST_RING) {
                throw new IllegalArgumentException(
                        "a ring has " + SMALLEST_RING + " to " + LARGEST_RING + " bytes, not " + bytes);
            }
            // whole pages a piece
            this.stagingBytes = bytes / PinnedRing.PAGES_BYTES * PinnedRing.PAGES_BYTES;
            return this;
        }

        /**
         * The preferred chunk of local memory of GPUs that is staged, in bytes. Default 8 MiB; {@code SLUICE_CUDA_STAGED_CHUNK}.
         *
         * @param bytes at least 4,096; an eighth of the window at most is used
         * @return this
         */
        public Builder stagedChunk(long bytes) {
            if (bytes < SMALLEST_CHUNK) {
                throw new IllegalArgumentException("a chunk has at least " + SMALLEST_CHUNK + " bytes, not " + bytes);
            }
            this.stagedChunk = bytes;
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
            environment.flag(VARIABLES + "MAPPED", this::mapped);
            environment.size(VARIABLES + "STAGING_BYTES", this::stagingBytes);
            environment.size(VARIABLES + "STAGED_CHUNK", this::stagedChunk);
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
