package io.sluice.samples.bench;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import java.util.List;

/** A rank's inputs of dispatch and combine, and the place of the sums. */
final class ExpertMemory implements AutoCloseable {
    private static final int LINE = 64;

    private final ExpertPlan plan;
    private final ExpertContent content;
    private final int rank;
    private final ExpertContent.Sum sum;
    private final MemoryRegion tokens;
    private final MemoryRegion choices;
    private final MemoryRegion weights;
    private final MemoryRegion sums;
    private final MemoryRegion answers;

    ExpertMemory(TransferEngine engine, ExpertPlan plan, ExpertContent content, int rank) {
        this.plan = plan;
        this.content = content;
        this.rank = rank;
        sum = content.new Sum();
        long chosen = (long) plan.tokens() * plan.topK();
        tokens = engine.allocate(plan.tokens() * plan.rowBytes(), RegionOptions.local());
        choices = engine.allocate(chosen * Long.BYTES, RegionOptions.local());
        weights = engine.allocate(chosen * Float.BYTES, RegionOptions.local());
        sums = engine.allocate(plan.tokens() * plan.rowBytes(), RegionOptions.local());
        boolean needsAnswers = plan.mode() == ExpertMode.NORMAL;
        answers = engine.allocate(needsAnswers ? plan.mostRows() * plan.rowBytes() : LINE, RegionOptions.local());
        content.putChoices(rank, choices.segment());
        content.putWeights(rank, weights.segment());
    }

    MemoryRegion tokens() {
        return tokens;
    }

    MemoryRegion choices() {
        return choices;
    }

    MemoryRegion weights() {
        return weights;
    }

    MemoryRegion sums() {
        return sums;
    }

    /** For what the experts make of tokens in normal mode; results of low-latency dispatches have memory for it. */
    MemoryRegion answers() {
        return answers;
    }

    /** Gets ready for a block: writes its tokens, and spoils where the sums go. */
    void fill(long block) {
        for (int token = 0; token < plan.tokens(); token++) {
            content.token(block, rank, token).put(tokens.segment(), token * plan.rowBytes());
        }
        ExpertContent.poison(sums.segment());
    }

    /** The terms of which the sum of a token has to be made. */
    interface Terms {
        void addTo(ExpertContent.Sum sum, int token);
    }

    /** How many sums are not what the terms make. */
    long wrongSums(Terms terms) {
        long wrong = 0;
        for (int token = 0; token < plan.tokens(); token++) {
            sum.clear();
            terms.addTo(sum, token);
            wrong += sum.isIn(sums.segment(), token * plan.rowBytes()) ? 0 : 1;
        }
        return wrong;
    }

    @Override
    public void close() {
        for (MemoryRegion region : List.of(tokens, choices, weights, sums, answers)) {
            Waiting.await(region.close(), "giving memory back");
        }
    }
}
