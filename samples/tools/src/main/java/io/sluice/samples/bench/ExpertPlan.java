package io.sluice.samples.bench;

import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.cuda.GpuExpertOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A measurement of experts, the same on each rank.
 *
 * @param ranks how many there are
 * @param tokens of each rank
 * @param hidden the length of a token's vector
 * @param topK experts of a token
 * @param experts of all ranks together
 * @param fp8 whether dispatch quantises
 * @param backend the communication back end; {@code null} for the usual one
 * @param blocks the most of a kernel of GPUs; {@code null} for the usual number
 * @param verify whether results are checked
 * @param duration how long to measure
 * @param warmup how long to run before
 * @param processors those that the ranks share
 */
public record ExpertPlan(
        ExpertMode mode,
        int ranks,
        int tokens,
        int hidden,
        int topK,
        int experts,
        boolean fp8,
        @Nullable String backend,
        @Nullable Integer blocks,
        boolean verify,
        Duration duration,
        Duration warmup,
        int processors) {
    /** Before a low-latency message. */
    private static final int HEADER_BYTES = 16;

    /**
     * Options of a buffer for it.
     *
     * @throws IllegalArgumentException if there is no such buffer; the message says what is possible
     */
    public ExpertOptions options() {
        if (topK > experts) {
            throw new IllegalArgumentException(
                    "a token has " + topK + " experts, each another one, and there are " + experts);
        }
        ExpertOptions options = ExpertOptions.experts(experts)
                .hidden(hidden)
                .maxTokensPerRank(tokens)
                .topK(topK)
                .lowLatency(mode == ExpertMode.LOW_LATENCY)
                .normalMode(mode == ExpertMode.NORMAL);
        options.localExperts(ranks);
        return backend == null ? options : options.backend(backend);
    }

    /**
     * Options of a buffer for it on GPUs.
     *
     * @throws IllegalArgumentException as for {@link #options}
     */
    public GpuExpertOptions gpuOptions() {
        GpuExpertOptions options = GpuExpertOptions.of(options());
        if (blocks == null) {
            return options;
        }
        return switch (mode) {
            case LOW_LATENCY -> options.withBlocks(blocks);
            case NORMAL -> options.withNormalBlocks(blocks);
        };
    }

    DispatchFormat format() {
        return fp8 ? DispatchFormat.FP8 : DispatchFormat.BF16;
    }

    int localExperts() {
        return experts / ranks;
    }

    /** How many scales a quantised vector has. */
    int scales() {
        return hidden / ExpertOptions.CHANNELS_OF_A_SCALE;
    }

    /** The length of a vector of bfloat16. */
    long rowBytes() {
        return (long) hidden * Short.BYTES;
    }

    /** The most rows that a rank receives. */
    long mostRows() {
        return (long) ranks * tokens * (mode == ExpertMode.LOW_LATENCY ? localExperts() : 1);
    }

    /** Bytes of one expert's copy of a token in dispatch, or of one rank's in normal mode, as DeepEP's tests count them. */
    public long dispatchedBytes() {
        long payload = fp8 ? hidden + (long) scales() * Float.BYTES : rowBytes();
        return payload + (mode == ExpertMode.LOW_LATENCY ? HEADER_BYTES : 0);
    }

    /** The same of combine. */
    public long combinedBytes() {
        return rowBytes();
    }

    /**
     * The bytes of host memory that all ranks take together; throws {@link ArithmeticException} beyond 2<sup>63</sup>.
     *
     * @param onGpus whether buffers are elsewhere, and the host has copies of rows
     */
    public long bytes(boolean onGpus) {
        ExpertOptions options = options();
        long buffer = onGpus
                ? Math.multiplyExact(mostRows(), rowBytes())
                : mode == ExpertMode.LOW_LATENCY ? options.lowLatencyBytes(ranks) : options.normalBytes(ranks);
        // tokens, their sums, and what experts make of them
        long rows = Math.addExact(2L * tokens, mostRows());
        return Math.multiplyExact(Math.addExact(buffer, Math.multiplyExact(rows, rowBytes())), (long) ranks);
    }
}
