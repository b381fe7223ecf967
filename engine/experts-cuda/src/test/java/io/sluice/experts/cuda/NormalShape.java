package io.sluice.experts.cuda;

import io.sluice.experts.ExpertOptions;
import io.sluice.testkit.Patience;

/** The sizes of a buffer. */
record NormalShape(int ranks, int experts, int hidden, int maxTokens, int topK) {
    ExpertOptions options() {
        return ExpertOptions.experts(experts)
                .hidden(hidden)
                .maxTokensPerRank(maxTokens)
                .topK(topK)
                .lowLatency(false)
                .timeout(Patience.BOUND);
    }

    GpuExpertOptions gpuOptions() {
        return GpuExpertOptions.of(options()).withBlocks(4).withNormalBlocks(4);
    }

    int capacity() {
        return ranks * maxTokens;
    }
}
